-- Turns a reservation into a charge and frees its lease. KEYS: 1 the record, 2-4 counters, 5-7 leases, each of subject,
-- tenant and address; 8 what a guest has handed over, if one asks. ARGV: 1 numbers as a JSON array: tokens (-1 for as
-- reserved), 1 if an unknown ask is charged, what it is charged (less than 0 gives back), flags of the scopes that count
-- tokens (1, 2, 4), day's number and end in seconds, and for a correction the epoch of the counters; 2 the request id.
-- Answers 2 (version) and: 0 settled, 1 repeated, 2 unknown; then, where an account has taken over a guest together with
-- the reservation: the account, what it is to be corrected by, the epoch of its counters, day's number and end.
local RECORD = '<dddddddddddd'
local args = cjson.decode(ARGV[1])
local read = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local r = read[1] and {struct.unpack(RECORD, read[1])}
if r and r[8] + MEMORY <= now then r = nil end

if not r then
  if args[2] ~= 1 then return {2, 2} end
  -- Also an admission that comes late finds the ask settled, and moves nothing.
  for scope = 0, 2 do
    if args[3] ~= 0 and bit.band(args[4], 2 ^ scope) ~= 0 then
      local h = holder(read[scope + 2])
      if args[5] >= math.min(h[3], h[7]) and (not args[7] or h[2] == args[7]) then
        local at = make_place(h, args[5], args[6])
        h[at + 1] = bounded(h[at + 1] + args[3])
        save(KEYS[scope + 2], h)
      end
    end
  end
  redis.call(
    'SET', KEYS[1], struct.pack(RECORD, 1, 0, 0, args[5], 0, args[6], now, now, 0, 0, 0, 0), 'PX', '300000')
  return {2, 0}
end
local charged = args[1] < 0 and r[3] or args[1]
local flags = r[9]

-- The answer, with the correction of the account that has taken the reservation over. Told with every repetition too,
-- since the first answer may have been lost; an account is corrected once.
local function tell(verdict)
  local takings = KEYS[8] and charged ~= r[3] and flags % 2 == 1 and redis.call('HGET', KEYS[8], 'a')
  if not takings then return {2, verdict} end
  for _, taking in ipairs(cmsgpack.unpack(takings)) do
    if taking[1] > r[7] then
      if taking[2] ~= r[4] or taking[4] ~= r[10] then break end
      if verdict == 0 then redis.call('HINCRBY', KEYS[8], 'd' .. integer(r[4]), integer(charged - r[3])) end
      return {2, verdict, taking[3], charged - r[3], taking[5], r[4], r[6]}
    end
  end
  return {2, verdict}
end

if r[1] == 1 then return tell(1) end
for scope = 0, 2 do
  local counts, runs = bit.band(flags, 2 ^ scope) ~= 0, bit.band(flags, 8 * 2 ^ scope) ~= 0
  if counts or runs then
    local blob = read[scope + 2]
    local h = holder(blob)
    local is_changed = false
    if counts then
      local at = place(h, r[4])
      -- Of what a reset has wiped out nothing is left to give back.
      local reserved = blob and h[2] == r[10 + scope] and r[3] or 0
      if not blob then at = make_place(h, r[4], r[6]) end
      if at then
        h[at + 1], h[at + 2] = bounded(h[at + 1] - reserved + charged), bounded(h[at + 2] - reserved)
        is_changed = true
      end
    end
    if runs and redis.call('ZREM', KEYS[scope + 5], ARGV[2] .. math.floor(r[7] / 1000000)) == 1 and h[17] > 0 then
      h[17], is_changed = h[17] - 1, true
    end
    if is_changed then save(KEYS[scope + 2], h) end
  end
end
-- The record goes on living as long as when its lease was last renewed: five minutes beyond it.
redis.call('SETRANGE', KEYS[1], '0', struct.pack('<d', 1))
return tell(0)
