-- askgate quota script, version 2
-- Joined before every script. All times are microseconds of the store's clock, unless a name says otherwise.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local seconds = math.floor(now / 1000000)
local MINUTE, LEASE, MEMORY = 60000000, 30000000, 300000000
local LARGEST = 9007199254740992
-- One holder's counters, packed as doubles, which hold every integer to 2^53:
-- 1 last write, 2 epoch of the token counters, 3-6 one day (number, used, reserved, end in seconds), 7-10 another,
-- 11 admissions in the minute's log, 12 dead entries before them, 13 oldest and 14 newest of them,
-- 15 until when the log has a time to live, 16 until when no lease can have died, 17 leases in the set, dead ones
-- that were not cleared away among them, -1 for unknown, 18 until when this key lives
-- A set of leases holds the empty member besides, which never dies: the set is not made anew for every ask.
local HOLDER = '<dddddddddddddddddd'

local function integer(number) return string.format('%.0f', number) end

local function bounded(number)
  if number < 0 then return 0 end
  return number > LARGEST and LARGEST or number
end

-- The epoch is never used again, so that an ask can tell whether its reservation is still in these counters.
local function new_holder() return {now, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0} end

local function holder(blob)
  if blob then return {struct.unpack(HOLDER, blob)} end
  return new_holder()
end

-- The time to live is told anew only when it has to be longer: mostly bytes are replaced in place.
local function save(key, h)
  h[1] = now
  local last_day = h[6] > h[10] and h[6] or h[10]
  local day_life, wanted = (last_day + 7200) * 1000000, now + MEMORY
  if h[18] >= day_life and h[18] >= wanted then
    return redis.call('SETRANGE', key, '0', struct.pack(HOLDER, unpack(h)))
  end
  h[18] = day_life > wanted and day_life or wanted + MEMORY
  redis.call('SET', key, struct.pack(HOLDER, unpack(h)), 'PX', integer((h[18] - now) / 1000))
end

-- The place of a day among a holder's fields; nil when it is not kept.
local function place(h, day)
  if h[3] == day then return 3 end
  if h[7] == day then return 7 end
end

-- As above; the lower day makes room.
local function make_place(h, day, day_end)
  local at = place(h, day)
  if not at then
    at = h[3] < h[7] and 3 or 7
    h[at], h[at + 1], h[at + 2] = day, 0, 0
  end
  h[at + 3] = day_end
  return at
end
