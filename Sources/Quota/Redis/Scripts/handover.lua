-- Charges what a guest has used today to an account, once for each token of the guest, and closes the guest. KEYS:
-- 1 what the guest has handed over, 2 its counters, 3 the account's counters, 4-6 the book of guests. ARGV: 1 numbers
-- as a JSON array: three days' numbers, their four bounds in seconds, when the guest's tokens have expired, most orders
-- of the book, 1 if only a repetition is answered; 2 the token, 3 the account, 4 the order's field, 5 channel,
-- 6 message.
-- Answers 2 (version) and: 0 charged, tokens | 1 repeated, tokens then | 2 taken by another | 3 refused.
local args = cjson.decode(ARGV[1])
local known = redis.call('HGET', KEYS[1], 't' .. ARGV[2])
if known then
  local claim = cmsgpack.unpack(known)
  if claim[1] == ARGV[3] then return {2, 1, claim[2]} end
  return {2, 2}
end
if args[10] == 1 then return {2, 3} end

local day, day_end
if seconds < args[5] then
  day, day_end = args[1], args[5]
elseif seconds < args[6] then
  day, day_end = args[2], args[6]
else
  day, day_end = args[3], args[7]
end
local read = redis.call('MGET', KEYS[2], KEYS[3])
local guest = holder(read[1])
local at = place(guest, day)
local handed = tonumber(redis.call('HGET', KEYS[1], 'd' .. integer(day)) or '0')
local charged = math.max(0, (at and guest[at + 1] or 0) - handed)
if charged > 0 then
  local account = holder(read[2])
  at = make_place(account, day, day_end)
  account[at + 1] = bounded(account[at + 1] + charged)
  save(KEYS[3], account)
  -- Settlements of the asks that run correct what their reservations were too large or small.
  local takings = redis.call('HGET', KEYS[1], 'a')
  takings = takings and cmsgpack.unpack(takings) or {}
  takings[#takings + 1] = {now, day, ARGV[3], guest[2], account[2]}
  if #takings > 16 then table.remove(takings, 1) end
  redis.call('HSET', KEYS[1], 'a', cmsgpack.pack(takings))
end
redis.call(
  'HSET', KEYS[1], 't' .. ARGV[2], cmsgpack.pack({ARGV[3], charged}), 'd' .. integer(day), integer(handed + charged))
local life = math.max(args[8] / 1000, (day_end + 7200) * 1000) - now / 1000
local left = redis.call('PTTL', KEYS[1])
if left < life then redis.call('PEXPIRE', KEYS[1], integer(math.max(1000, life))) end

sweep_orders(KEYS[4], KEYS[5], KEYS[6])
write_order(KEYS[4], KEYS[5], KEYS[6], ARGV[4], {0, args[8], now, now, '', '', '', 0})
for _ = 1, redis.call('ZCARD', KEYS[5]) - args[9] do
  local oldest = redis.call('ZPOPMIN', KEYS[5])[1]
  redis.call('HDEL', KEYS[4], oldest)
  redis.call('ZREM', KEYS[6], oldest)
end
-- Nothing of a book outlives the last of its guests' tokens.
life = math.max(1000, (args[8] - now) / 1000)
for i = 4, 6 do
  if redis.call('PTTL', KEYS[i]) < life then redis.call('PEXPIRE', KEYS[i], integer(life)) end
end
redis.call('PUBLISH', ARGV[5], ARGV[6])
return {2, 0, charged}
