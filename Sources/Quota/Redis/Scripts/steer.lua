-- Changes what an operator may change, and writes it into the trail. KEYS: 1 steering, 2 counters, 3 log of the minute,
-- 4 leases, 5 the tenant's trail, 6 the holder's trail. ARGV: 1 numbers as a JSON array: expected version (-1 for any),
-- action, kind (-1 for all), quantity, end (0 for none), entries kept of the tenant, of the holder, and for how many
-- milliseconds; 2 the action's name, 3 actor, 4 reason, 5 scope, 6 id, 7 request id or empty, 8 channel, 9 message.
-- Actions: 0 override, 1 clear, 2 block, 3 unblock, 4 reset, 5 drop leases.
-- Answers 2 (version) and: 0 applied, the holder's version, leases dropped, 1 if something was changed | 1 conflict,
-- the holder's version. What finds nothing to change takes no version.
local args = cjson.decode(ARGV[1])
local action, kind = args[2], args[3]
local read = redis.call('MGET', KEYS[1], KEYS[2])
local s = read[1] and {struct.unpack('<dddddddd', read[1])} or {0, -1, 0, -1, 0, -1, 0, -1}
if args[1] >= 0 and args[1] ~= s[1] then return {2, 1, s[1]} end
local h = read[2] and holder(read[2])
local members = redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. integer(now), '(+inf')

for at = 2, 6, 2 do
  if s[at + 1] ~= 0 and s[at + 1] <= now then s[at], s[at + 1] = -1, 0 end
end
if s[8] > 0 and s[8] <= now then s[8] = -1 end

local function amounts()
  if action == 2 or action == 3 then return {-1, -1, -1} end
  local all = {s[2], s[4], s[6]}
  if action >= 4 then
    local minute, tokens = 0, 0
    if h then
      if h[14] > now - MINUTE then minute = h[11] end
      tokens = h[3] > h[7] and h[4] or h[8]
    end
    all = {minute, tokens, redis.call('ZCOUNT', KEYS[4], '(' .. integer(now), '(+inf')}
  end
  for i = 0, 2 do
    if kind >= 0 and kind ~= i then all[i + 1] = -1 end
  end
  return all
end

-- The minute's log is cut first, so that the trail tells what was in the minute and not what was in the log.
if h and action == 4 and h[11] > 0 and h[13] <= now - MINUTE then
  local log = redis.call('GETRANGE', KEYS[3], integer(h[12] * 8), integer((h[12] + h[11]) * 8 - 1))
  local dead = 0
  for at = 1, #log - 7, 8 do
    if struct.unpack('<d', log, at) > now - MINUTE then break end
    dead = dead + 1
  end
  h[11], h[12] = h[11] - dead, h[12] + dead
end

local before, block_before = amounts(), s[8]
local dropped, changes = 0, action == 0 or action == 2
if action == 0 then
  s[2 + kind * 2], s[3 + kind * 2] = args[4], args[5]
elseif action == 1 then
  for i = 0, 2 do
    if kind < 0 or kind == i then
      changes = changes or s[2 + i * 2] >= 0
      s[2 + i * 2], s[3 + i * 2] = -1, 0
    end
  end
elseif action == 2 then
  s[8] = args[5]
elseif action == 3 then
  changes = s[8] >= 0
  s[8] = -1
elseif action == 4 then
  changes = before[1] > 0 or before[3] > 0
  if h and (kind < 0 or kind == 0) then
    h[11], h[12] = 0, 0
    redis.call('DEL', KEYS[3])
  end
  if h and (kind < 0 or kind == 1) then
    changes = changes or h[4] ~= 0 or h[5] ~= 0 or h[8] ~= 0 or h[9] ~= 0
    h[4], h[5], h[8], h[9] = 0, 0, 0, 0
    h[2] = math.max(now, h[2] + 1)
  end
  if kind < 0 or kind == 2 then
    redis.call('DEL', KEYS[4])
    if h then h[16], h[17] = 0, 0 end
  end
  if h then save(KEYS[2], h) end
else
  for _, member in ipairs(members) do
    if ARGV[7] == '' or string.sub(member, 1, 32) == ARGV[7] then
      dropped = dropped + redis.call('ZREM', KEYS[4], member)
    end
  end
  if h and dropped > 0 then
    h[16], h[17] = 0, -1
    save(KEYS[2], h)
  end
  changes = dropped > 0
end
local after = amounts()
if changes then
  s[1] = s[1] + 1
  local blob = struct.pack('<dddddddd', unpack(s, 1, 8))
  if s[2] < 0 and s[4] < 0 and s[6] < 0 and s[8] < 0 then
    redis.call('SET', KEYS[1], blob, 'PX', integer(args[8]))
  else
    redis.call('SET', KEYS[1], blob)
  end
end

local numbers = {now, args[5], s[1], before[1], before[2], before[3], after[1], after[2], after[3]}
for i = 1, 9 do numbers[i] = integer(numbers[i]) end
local fields = {
  'n', table.concat(numbers, ' '), 'action', ARGV[2], 'actor', ARGV[3], 'reason', ARGV[4], 'scope', ARGV[5],
  'id', ARGV[6], 'object', '', 'before', (action == 2 or action == 3) and 'b' .. integer(block_before) or '',
}
local id = redis.call('XADD', KEYS[5], 'MAXLEN', integer(args[6]), '*', unpack(fields))
redis.call('PEXPIRE', KEYS[5], integer(args[8]))
redis.call('XADD', KEYS[6], 'MAXLEN', integer(args[7]), id, unpack(fields))
redis.call('PEXPIRE', KEYS[6], integer(args[8]))
redis.call('PUBLISH', ARGV[8], ARGV[9])
return {2, 0, s[1], dropped, changes and 1 or 0}
