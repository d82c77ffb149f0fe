-- Turns a reservation into a charge and frees its lease. KEYS: 1 the record, 2-4 counters, 5-7 leases, each of subject,
-- tenant and address. ARGV: 1 numbers as a JSON array: tokens (-1 for as reserved), 1 if an unknown ask is charged,
-- what it is charged, flags of the scopes that count tokens (1, 2, 4), day's number and end in seconds; 2 the request id.
-- Answers 1 (version) and: 0 settled, 1 repeated, 2 unknown.
local RECORD = '<dddddddddddd'
local args = cjson.decode(ARGV[1])
local read = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local r = read[1] and {struct.unpack(RECORD, read[1])}
if r and r[8] + MEMORY <= now then r = nil end

local function remember(output, reserved, day, day_start, day_end)
  redis.call(
    'SET', KEYS[1],
    struct.pack(RECORD, 1, output, reserved, day, day_start, day_end, now, now, 0, 0, 0, 0), 'PX', 300000)
end

if not r then
  if args[2] ~= 1 then return {1, 2} end
  -- Also an admission that comes late finds the ask settled, and moves nothing.
  for scope = 0, 2 do
    if args[3] > 0 and bit.band(args[4], 2 ^ scope) ~= 0 then
      local h = holder(read[scope + 2])
      if args[5] >= math.min(h[3], h[7]) then
        local at = make_place(h, args[5], args[6])
        h[at + 1] = bounded(h[at + 1] + args[3])
        save(KEYS[scope + 2], h)
      end
    end
  end
  remember(0, 0, args[5], 0, args[6])
  return {1, 0}
end
if r[1] == 1 then return {1, 1} end

local charged = args[1] < 0 and r[3] or args[1]
for scope = 0, 2 do
  if bit.band(r[9], 2 ^ scope) ~= 0 then
    local blob = read[scope + 2]
    local h = holder(blob)
    local at = place(h, r[4])
    -- Of what a reset has wiped out nothing is left to give back.
    local is_kept = blob and h[2] == r[10 + scope]
    local reserved = is_kept and r[3] or 0
    if not blob then at = make_place(h, r[4], r[6]) end
    if at then
      h[at + 1], h[at + 2] = bounded(h[at + 1] - reserved + charged), bounded(h[at + 2] - reserved)
      save(KEYS[scope + 2], h)
    end
  end
  if bit.band(r[9], 8 * 2 ^ scope) ~= 0 then redis.call('ZREM', KEYS[scope + 5], ARGV[2] .. integer(r[7])) end
end
remember(r[2], r[3], r[4], r[5], r[6])
return {1, 0}
