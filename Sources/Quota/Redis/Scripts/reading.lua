-- Reads what an ask is decided on. KEYS: the ask's record, then steering, counters, logs of the minute and leases, each
-- of subject, of tenant and, for callers whose address counts, of the address. ARGV: 1 packed doubles: prompt estimate,
-- output cap, least tokens, chance, three days' numbers, their four bounds in seconds, then code and quantity of each
-- limit.
-- A limit's code is scope * 6 + kind * 2 + (1 if it only observes); kinds: 0 minute, 1 day, 2 running.
local call, keys = redis.call, KEYS
local scopes = (#keys - 1) / 4
-- Where the keys of each kind are, less the scope.
local COUNTERS, LOGS, LEASES = scopes + 2, 2 * scopes + 2, 3 * scopes + 2
local prompt, output, least, chance, yesterday, today, tomorrow, bound1, bound2, bound3, bound4 =
  struct.unpack('<ddddddddddd', ARGV[1])
-- Code and quantity by turns, and how many numbers these are.
local count = #ARGV[1] / 8 - 11
local limits = {struct.unpack(string.sub(NUMBERS, 1, 1 + count), ARGV[1], 89)}
local read = call('MGET', unpack(keys, 1, LOGS - 1))

local day, day_start, day_end = tomorrow, bound3, bound4
if seconds < bound2 then
  day, day_start, day_end = yesterday, bound1, bound2
elseif seconds < bound3 then
  day, day_start, day_end = today, bound2, bound3
end

-- What operators have set: 1 version, then for each kind quantity (-1 for none) and end (0 for none), 8 the block (-1
-- none, 0 until lifted, else its end).
local blocked, steered, steering_ends = 0, 0, math.huge
for scope = 0, scopes - 1 do
  local blob = read[scope + 2]
  if blob then
    local s = {struct.unpack('<dddddddd', blob)}
    if s[8] == 0 or s[8] > now then blocked = 1 end
    for kind = 0, 2 do
      local quantity, ends = s[2 + kind * 2], s[3 + kind * 2]
      if quantity >= 0 and (ends == 0 or ends > now) then
        steered = 1
        if ends > 0 and ends < steering_ends then steering_ends = ends end
        local found = false
        for at = 1, count, 2 do
          if limits[at] - limits[at] % 2 == scope * 6 + kind * 2 then limits[at + 1], found = quantity, true end
        end
        if not found then
          limits[count + 1], limits[count + 2] = scope * 6 + kind * 2, quantity
          count = count + 2
        end
      end
    end
  end
end
