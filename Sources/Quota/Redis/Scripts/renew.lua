-- Gives a lease another 30 seconds. KEYS: 1 the record, 2-4 leases of subject, tenant and address. ARGV 1: the request
-- id. Answers 2 (version) and 1 if the lease lives, 0 if it is gone.
local blob = redis.call('GET', KEYS[1])
if not blob then return {2, 0} end
local r = {struct.unpack(RECORD, blob)}
if r[1] == 1 or r[8] <= now then return {2, 0} end
r[8] = now + LEASE
redis.call('SET', KEYS[1], struct.pack(RECORD, unpack(r, 1, 12)), 'PX', 330000)
for scope = 0, 2 do
  if bit.band(r[9], 8 * 2 ^ scope) ~= 0 then
    redis.call('ZADD', KEYS[scope + 2], 'XX', integer(r[8]), ARGV[1] .. math.floor(r[7] / 1000000))
    redis.call('PEXPIRE', KEYS[scope + 2], 90000)
  end
end
return {2, 1}
