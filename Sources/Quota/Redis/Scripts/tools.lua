-- What scripts share that run rarely. A script makes each of its functions anew with every call: those that every ask
-- runs do without.
local function integer(number) return string.format('%.0f', number) end

local function bounded(number)
  if number < 0 then return 0 end
  return number > LARGEST and LARGEST or number
end

-- The epoch is never used again, so that an ask can tell whether its reservation is still in these counters.
local function new_holder() return {0, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0} end

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
