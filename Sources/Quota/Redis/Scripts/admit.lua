-- Admits an ask, or refuses it and writes nothing. ARGV 2: the request id.
-- Answers 1 (version) and: 0 admitted, output, reserved, day's number, start, end in seconds | 1 refused, place of the
-- failing limit, wait, certain | 2 blocked; then the states.
-- A record: 1 settled, 2 output, 3 reserved, 4-6 day, 7 start, 8 end of the lease, 9 flags (1, 2, 4 reserves in subject,
-- tenant, address; 8, 16, 32 runs there), 10-12 epochs of the counters at admission.
local RECORD = '<dddddddddddd'

if read[1] then
  local r = {struct.unpack(RECORD, read[1])}
  if r[8] + MEMORY > now then
    for i = 1, count do exceeded[i] = 0 end
    measure()
    return tell({1, 0, r[2], r[3], r[4], r[5], r[6]})
  end
end
if blocked == 1 then return {1, 2} end
judge()
if failing > 0 then return tell({1, 1, failing, longest, steered == 1 and 0 or certain}) end

local reserved = prompt + output
local flags, epochs, seen, changed = 0, {0, 0, 0}, {}, {}
local lease = now + LEASE
for i = 1, count do
  local cell = codes[i] - codes[i] % 2
  -- An observed limit that would have refused counts as if it had; two limits on one counter count once.
  if exceeded[i] == 0 and not seen[cell] then
    seen[cell] = true
    local scope, kind = cell / 6, cell % 6 / 2
    scope = math.floor(scope)
    if kind == 0 then
      local h, key = holder_of(scope), KEYS[scope + 8]
      local stamp = h[11] > 0 and h[14] > now and h[14] or now
      local entry = struct.pack('<d', stamp)
      if h[11] == 0 then
        write_log(key, h, entry)
      else
        local length = redis.call('APPEND', key, entry)
        if length ~= (h[12] + h[11] + 1) * 8 then
          -- The log was lost beside its counters: it begins anew.
          write_log(key, h, entry)
          h[11] = 0
        elseif h[15] < now + 120000000 then
          redis.call('PEXPIRE', key, LOG_LIFE)
          h[15] = now + LOG_LIFE * 1000
        end
        if h[12] > 256 and h[12] > 2 * h[11] then
          write_log(key, h, redis.call('GETRANGE', key, integer(h[12] * 8), -1))
        end
      end
      if h[11] == 0 then h[13] = stamp end
      h[11], h[14], changed[scope] = h[11] + 1, stamp, true
    elseif kind == 1 then
      local h = holder_of(scope)
      local at = make_place(h, day, day_end)
      h[at + 1], h[at + 2] = bounded(h[at + 1] + reserved), bounded(h[at + 2] + reserved)
      flags, epochs[scope + 1], changed[scope] = flags + 2 ^ scope, h[2], true
    else
      local h, key = holder_of(scope), KEYS[scope + 11]
      local fresh = running_in(scope) == 0
      running[scope] = redis.call('ZADD', key, integer(lease), ARGV[2] .. integer(now)) + running_in(scope)
      if h[16] <= now then
        redis.call('ZREMRANGEBYSCORE', key, '-inf', integer(now))
        h[16], changed[scope] = now + LEASE, true
        fresh = true
      end
      -- A set that was empty was not there, and has no time to live yet.
      if fresh then redis.call('PEXPIRE', key, 90000) end
      flags = flags + 8 * 2 ^ scope
    end
  end
end
for scope in pairs(changed) do save(KEYS[scope + 5], holders[scope]) end
local record = struct.pack(
  RECORD, 0, output, reserved, day, day_start, day_end, now, lease, flags, epochs[1], epochs[2], epochs[3])
redis.call('SET', KEYS[1], record, 'PX', 330000)
measure()
return tell({1, 0, output, reserved, day, day_start, day_end})
