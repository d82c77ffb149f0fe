-- Judges limits. KEYS: 1 the ask's record, 2-4 steering, 5-7 counters, 8-10 logs of the minute, 11-13 leases, each of
-- subject, tenant and address. ARGV: 1 numbers as a JSON array: prompt estimate, output cap, least tokens, chance,
-- three days' numbers, their four bounds in seconds, then code and quantity of each limit.
-- A limit's code is scope * 6 + kind * 2 + (1 if it only observes); kinds: 0 minute, 1 day, 2 running.
local args = cjson.decode(ARGV[1])
local prompt, output, least = args[1], args[2], args[3]
local read = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7])

local day, day_start, day_end = args[7], args[10], args[11]
if seconds < args[9] then
  day, day_start, day_end = args[5], args[8], args[9]
elseif seconds < args[10] then
  day, day_start, day_end = args[6], args[9], args[10]
end

-- What operators have set: 1 version, then for each kind quantity (-1 for none) and end (0 for none), 8 the block (-1
-- none, 0 until lifted, else its end).
local blocked, steered = 0, 0
for scope = 0, 2 do
  local blob = read[scope + 2]
  if blob then
    local s = {struct.unpack('<dddddddd', blob)}
    if s[8] == 0 or s[8] > now then blocked = 1 end
    for kind = 0, 2 do
      local quantity, ends = s[2 + kind * 2], s[3 + kind * 2]
      if quantity >= 0 and (ends == 0 or ends > now) then
        steered = 1
        local found = false
        for at = 12, #args, 2 do
          if args[at] - args[at] % 2 == scope * 6 + kind * 2 then args[at + 1], found = quantity, true end
        end
        if not found then
          args[#args + 1] = scope * 6 + kind * 2
          args[#args + 1] = quantity
        end
      end
    end
  end
end

local LOG_LIFE = 600000

local function write_log(key, h, entries)
  redis.call('SET', key, entries, 'PX', LOG_LIFE)
  h[12], h[15] = 0, now + LOG_LIFE * 1000
end

-- One entry of the minute's log.
local function entry(scope, h, index)
  local from = (h[12] + index) * 8
  local stamp = redis.call('GETRANGE', KEYS[scope + 8], integer(from), integer(from + 7))
  return #stamp == 8 and struct.unpack('<d', stamp) or nil
end

-- The clock was turned back: what lies ahead of it is taken as of now, so that no entry outlives its time.
local function turn_back(scope, h)
  if h[11] > 0 and h[14] > now then
    local log_key = KEYS[scope + 8]
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
  local key = KEYS[scope + 11]
  for _, lease in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. integer(now + LEASE), '(+inf')) do
    redis.call('ZADD', key, integer(now + LEASE), lease)
  end
  h[16], h[17] = 0, -1
  save(KEYS[scope + 5], h)
end

-- Forgets admissions that have left the minute; an admission exactly a minute old has left.
local function forget(scope, h)
  local cutoff = now - MINUTE
  if h[14] <= cutoff then
    h[11], h[12] = 0, 0
    return
  end
  local low, high = 0, h[11] - 1
  -- Mostly the first few; else between them, since a million may leave at once.
  local first = redis.call('GETRANGE', KEYS[scope + 8], integer(h[12] * 8), integer((h[12] + 16) * 8 - 1))
  if #first == 0 then
    h[11], h[12] = 0, 0
    return
  end
  local near = math.min(16, #first / 8, high) - 1
  while low <= near and struct.unpack('<d', first, low * 8 + 1) <= cutoff do low = low + 1 end
  if low > near then
    while low < high do
      local middle = math.floor((low + high) / 2)
      local stamp = entry(scope, h, middle)
      if not stamp or stamp <= cutoff then low = middle + 1 else high = middle end
    end
  end
  h[11], h[12] = h[11] - low, h[12] + low
  h[13] = low < #first / 8 and struct.unpack('<d', first, low * 8 + 1) or entry(scope, h, 0) or h[14]
end

local holders = {}

local function holder_of(scope)
  local blob = read[scope + 5]
  local h = holder(blob)
  if blob then
    if now < h[1] - 1000000 then turn_back(scope, h) end
    if h[11] > 0 and h[13] <= now - MINUTE then forget(scope, h) end
  end
  holders[scope] = h
  return h
end

-- Microseconds until an admission of the minute leaves it.
local function leaves_in(stamp)
  local wait = stamp + MINUTE - now
  if wait < 1 then return 1 end
  return wait > MINUTE and MINUTE or wait
end

-- Microseconds to wait when a limit is used up, and 1 if nothing but an operator can shorten the wait.
local function wait_of(scope, kind, h, quantity, used)
  if kind == 0 then
    if quantity == 0 then return MINUTE, 1 end
    return leaves_in(used == quantity and h[13] or entry(scope, h, used - quantity) or h[14]), 1
  end
  if kind == 4 then return (1 + args[4]) * 1000000, 0 end
  local at = place(h, day)
  local reserved = at and h[at + 2] or 0
  local wait = day_end * 1000000 - now
  return wait < 1 and 1 or wait, used - reserved >= quantity and 1 or 0
end

-- By place among the arguments: the wait of each limit that is used up, in microseconds.
local waits
local longest, failing, certain = 0, 0, 0

local function judge()
  for at = 12, #args, 2 do
    local code, quantity = args[at], args[at + 1]
    local kind = code % 6
    local scope, observes = (code - kind) / 6, kind % 2
    kind = kind - observes
    local h = holders[scope] or holder_of(scope)
    local used, needed = 0, 1
    if kind == 0 then
      used = h[11]
    elseif kind == 2 then
      local place = h[3] == day and 3 or h[7] == day and 7
      if place then used = h[place + 1] end
      needed = least
    else
      if h[17] ~= 0 and h[16] <= now then
        -- Some may have died.
        h[19] = redis.call('ZCOUNT', KEYS[scope + 11], '(' .. integer(now), '(+inf')
      else
        h[19] = h[17]
      end
      used = h[19]
    end
    if used + needed > quantity then
      local wait, is_certain = wait_of(scope, kind, h, quantity, used)
      waits = waits or {}
      waits[at] = wait
      if observes == 0 and wait > longest then longest, failing, certain = wait, at, is_certain end
    elseif kind == 2 and observes == 0 and output > quantity - used - prompt then
      output = math.max(0, quantity - used - prompt)
    end
  end
end

-- Appends the states to an answer: for each limit what is used, and twice the seconds to its reset, plus one if it was
-- used up. Code and quantity go before them when operators have set any.
local function tell(answer, shows_waits)
  local to = #answer
  for at = 12, #args, 2 do
    local kind = args[at] % 6
    local scope = (args[at] - kind) / 6
    local h = holders[scope]
    kind = kind - kind % 2
    local used, reset = 0, 0
    if kind == 0 then
      used = h[11]
      if used > 0 then reset = math.ceil(leaves_in(h[13]) / 1000000) end
    elseif kind == 2 then
      local place = h[3] == day and 3 or h[7] == day and 7
      if place then used = h[place + 1] end
      if used > 0 then reset = day_end > seconds and day_end - seconds or 1 end
    else
      used = h[19]
      if used > 0 then reset = 30 end
    end
    local wait = waits and waits[at]
    if wait and shows_waits then reset = math.max(1, math.ceil(wait / 1000000)) end
    if steered == 1 then
      answer[to + 1], answer[to + 2] = args[at], args[at + 1]
      to = to + 2
    end
    answer[to + 1], answer[to + 2] = used, reset * 2 + (wait and 1 or 0)
    to = to + 2
  end
  return answer
end
