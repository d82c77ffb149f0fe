-- Admits an ask, or refuses it and writes nothing. ARGV 2: the request id.
-- Answers 2 (version) and: 0 admitted, 1 if operators have set any limit, output, reserved, day's number, start, end in
-- seconds | 1 refused, the same, place of the failing limit, wait, certain | 2 blocked; then the states.
-- A record: 1 settled, 2 output, 3 reserved, 4-6 day, 7 start, 8 end of the lease, 9 flags (1, 2, 4 reserves in subject,
-- tenant, address; 8, 16, 32 runs there), 10-12 epochs of the counters at admission.
local RECORD = '<dddddddddddd'

if read[1] then
  local r = {struct.unpack(RECORD, read[1])}
  if r[8] + MEMORY > now then
    judge()
    waits = nil
    return tell({2, 0, steered, r[2], r[3], r[4], r[5], r[6]})
  end
end
if blocked == 1 then return {2, 2} end
judge()
if failing > 0 then
  return tell({2, 1, steered, (failing - 10) / 2, longest, steered == 1 and 0 or certain}, true)
end

local function log_admission(scope, h)
  local key = KEYS[scope + 8]
  local stamp = h[11] > 0 and h[14] > now and h[14] or now
  local packed = struct.pack('<d', stamp)
  local length = h[11] > 0 and redis.call('APPEND', key, packed)
  if not length or length ~= (h[12] + h[11] + 1) * 8 then
    -- There is none, or it was lost beside its counters: it begins anew.
    write_log(key, h, packed)
    h[11] = 0
  elseif h[15] < now + 120000000 then
    redis.call('PEXPIRE', key, LOG_LIFE)
    h[15] = now + LOG_LIFE * 1000
  end
  if h[12] > 256 and h[12] > 2 * h[11] then
    write_log(key, h, redis.call('GETRANGE', key, integer(h[12] * 8), '-1'))
  end
  if h[11] == 0 then h[13] = stamp end
  h[11], h[14] = h[11] + 1, stamp
end

local lease = now + LEASE

local function add_lease(scope, h)
  local key, ends, member = KEYS[scope + 11], integer(lease), ARGV[2] .. seconds
  if h[16] > now and h[17] >= 0 then
    h[17] = h[17] + redis.call('ZADD', key, ends, member)
    h[19] = h[17]
    return
  end
  if h[17] ~= 0 then redis.call('ZREMRANGEBYSCORE', key, '-inf', integer(now)) end
  redis.call('ZADD', key, ends, member, '+inf', '')
  redis.call('PEXPIRE', key, '90000')
  if h[17] == 0 then
    h[16], h[17] = lease, 1
  else
    h[16] = tonumber(redis.call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
    h[17] = redis.call('ZCARD', key) - 1
  end
  h[19] = h[17]
end

local reserved = prompt + output
local flags, epochs, counted = 0, {0, 0, 0}, {}
for at = 12, #args, 2 do
  local code = args[at]
  local kind = code % 6
  local scope = (code - kind) / 6
  kind = kind - kind % 2
  local cell = scope * 6 + kind
  -- An observed limit that would have refused counts as if it had; two limits on one counter count once.
  if not (waits and waits[at]) and not counted[cell] then
    counted[cell] = true
    local h = holders[scope]
    if kind == 0 then
      log_admission(scope, h)
    elseif kind == 2 then
      local place = make_place(h, day, day_end)
      h[place + 1], h[place + 2] = bounded(h[place + 1] + reserved), bounded(h[place + 2] + reserved)
      flags, epochs[scope + 1] = flags + 2 ^ scope, h[2]
    else
      add_lease(scope, h)
      flags = flags + 8 * 2 ^ scope
    end
    h.changed = true
  end
end
for scope = 0, 2 do
  local h = holders[scope]
  if h and h.changed then save(KEYS[scope + 5], h) end
end
redis.call(
  'SET', KEYS[1],
  struct.pack(
    RECORD, 0, output, reserved, day, day_start, day_end, now, lease, flags, epochs[1], epochs[2], epochs[3]), 'PX',
  '330000')
return tell({2, 0, steered, output, reserved, day, day_start, day_end})
