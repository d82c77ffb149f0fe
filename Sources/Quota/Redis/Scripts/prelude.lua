-- askgate quota script, version 1
-- Joined before every script. All times are microseconds of the store's clock, unless a name says otherwise.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local MINUTE, LEASE, MEMORY = 60000000, 30000000, 300000000
local LARGEST = 9007199254740992
-- One holder's counters, packed as doubles, which hold every integer to 2^53:
-- 1 last write, 2 epoch of the token counters, 3-6 one day (number, used, reserved, end in seconds), 7-10 another,
-- 11 admissions in the minute's log, 12 dead entries before them, 13 oldest and 14 newest of them,
-- 15 until when the log has a time to live, 16 when dead leases are to be cleared away next
local HOLDER = '<dddddddddddddddd'

local function integer(number) return string.format('%.0f', number) end

local function bounded(number)
  if number < 0 then return 0 end
  return number > LARGEST and LARGEST or number
end

local function holder(blob)
  if blob then return {struct.unpack(HOLDER, blob)} end
  -- The epoch is never used again, so that an ask can tell whether its reservation is still in these counters.
  return {now, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
end

local function save(key, h)
  h[1] = now
  local last_day = h[6] > h[10] and h[6] or h[10]
  local life = (last_day + 7200) * 1000 - now / 1000
  if life < 420000 then life = 420000 end
  redis.call('SET', key, struct.pack(HOLDER, unpack(h, 1, 16)), 'PX', integer(life))
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

local LOG_LIFE = 600000

local function write_log(key, h, entries)
  redis.call('SET', key, entries, 'PX', LOG_LIFE)
  h[12], h[15] = 0, now + LOG_LIFE * 1000
end

-- The clock was turned back: what lies ahead of it is taken as of now, so that no entry outlives its time.
local function turn_back(blob_key, log_key, lease_key, h)
  if h[11] > 0 and h[14] > now then
    local log = redis.call('GETRANGE', log_key, integer(h[12] * 8), integer((h[12] + h[11]) * 8 - 1))
    local entries = {}
    for at = 1, #log - 7, 8 do
      local stamp = struct.unpack('<d', log, at)
      entries[#entries + 1] = struct.pack('<d', stamp > now and now or stamp)
    end
    h[11], h[14] = #entries, now
    if h[13] > now then h[13] = now end
    write_log(log_key, h, table.concat(entries))
  end
  for _, lease in ipairs(redis.call('ZRANGEBYSCORE', lease_key, '(' .. integer(now + LEASE), '+inf')) do
    redis.call('ZADD', lease_key, integer(now + LEASE), lease)
  end
  h[16] = 0
  save(blob_key, h)
end
