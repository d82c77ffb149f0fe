-- Gives or lifts an order of an operator, and writes it into the trail. KEYS: 1 orders, 2 their versions, 3 their ends,
-- 4 the tenant's trail, 5 the holder's trail. ARGV: 1 numbers as a JSON array: 0 give or 1 lift, end (0 for none),
-- issued before (0 for none), most orders, microseconds for which a lifted one is told of, entries kept of the tenant,
-- of the holder, and for how many milliseconds; 2 the order's field, 3 plan, 4 the action's name, 5 actor, 6 reason,
-- 7 scope, 8 id, 9 object, 10 channel, 11 message, 12 1 if there is a holder.
-- An order: 1 version, 2 end (0 for none), 3 issued before, 4 given at, 5 plan, 6 actor, 7 reason, 8 1 if lifted.
-- Answers 2 (version) and: 0 applied, then the order | 1 full | 2 nothing to lift.
local args = cjson.decode(ARGV[1])
sweep_orders(KEYS[1], KEYS[2], KEYS[3])
local blob = redis.call('HGET', KEYS[1], ARGV[2])
local old = blob and cmsgpack.unpack(blob)
if old and (old[8] == 1 or old[2] > 0 and old[2] <= now) then old = nil end
local order
if args[1] == 1 then
  if not old then return {2, 2} end
  order = {0, now + args[5], 0, now, '', ARGV[5], ARGV[6], 1}
else
  if not blob and redis.call('HLEN', KEYS[1]) >= args[4] then return {2, 1} end
  -- What was revoked stays so: an order for the same subject can only reach further.
  local before = old and math.max(old[3], args[3]) or args[3]
  local ends = args[2]
  if old and args[3] > 0 then ends = (ends == 0 or old[2] == 0) and 0 or math.max(ends, old[2]) end
  order = {0, ends, before, now, ARGV[3], ARGV[5], ARGV[6], 0}
end
write_order(KEYS[1], KEYS[2], KEYS[3], ARGV[2], order)

local fields = {
  'n', table.concat({integer(now), integer(args[2]), integer(order[1]), '-1 -1 -1 -1 -1 -1'}, ' '),
  'action', ARGV[4], 'actor', ARGV[5], 'reason', ARGV[6], 'scope', ARGV[7], 'id', ARGV[8], 'object', ARGV[9],
  'before', string.sub(ARGV[2], 1, 1) == 'p' and 'p' .. (old and old[5] or '') or '',
}
local id = redis.call('XADD', KEYS[4], 'MAXLEN', integer(args[6]), '*', unpack(fields))
redis.call('PEXPIRE', KEYS[4], integer(args[8]))
if ARGV[12] == '1' then
  redis.call('XADD', KEYS[5], 'MAXLEN', integer(args[7]), id, unpack(fields))
  redis.call('PEXPIRE', KEYS[5], integer(args[8]))
end
redis.call('PUBLISH', ARGV[10], ARGV[11])
return {2, 0, ARGV[2], order[1], order[2], order[3], order[4], order[5], order[6], order[7], order[8]}
