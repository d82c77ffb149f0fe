-- Judges limits. KEYS: 1 the ask's record, 2-4 steering, 5-7 counters, 8-10 logs of the minute, 11-13 leases, each of
-- subject, tenant and address. ARGV: 1 numbers as a JSON array: prompt estimate, output cap, least tokens, chance,
-- three days' numbers, their four bounds in seconds, then code and quantity of each limit.
-- A limit's code is scope * 6 + kind * 2 + (1 if it only observes); kinds: 0 minute, 1 day, 2 running.
local args = cjson.decode(ARGV[1])
local prompt, least = args[1], args[3]
local read = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7])

local seconds = math.floor(now / 1000000)
local day, day_start, day_end
if seconds < args[9] then
  day, day_start, day_end = args[5], args[8], args[9]
elseif seconds < args[10] then
  day, day_start, day_end = args[6], args[9], args[10]
else
  day, day_start, day_end = args[7], args[10], args[11]
end

local codes, quantities, count = {}, {}, 0
for at = 12, #args, 2 do
  count = count + 1
  codes[count], quantities[count] = args[at], args[at + 1]
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
        for i = 1, count do
          if codes[i] - codes[i] % 2 == scope * 6 + kind * 2 then quantities[i], found = quantity, true end
        end
        if not found then
          count = count + 1
          codes[count], quantities[count] = scope * 6 + kind * 2, quantity
        end
      end
    end
  end
end

local holders, running = {}, {}

local function holder_of(scope)
  local h = holders[scope]
  if not h then
    h = holder(read[scope + 5])
    if now < h[1] - 1000000 then turn_back(KEYS[scope + 5], KEYS[scope + 8], KEYS[scope + 11], h) end
    holders[scope] = h
    -- Forgets admissions that have left the minute; an admission exactly a minute old has left.
    local cutoff = now - MINUTE
    if h[11] > 0 and h[13] <= cutoff then
      if h[14] <= cutoff then
        h[11], h[12] = 0, 0
      else
        local key, low, high = KEYS[scope + 8], 0, h[11] - 1
        -- Mostly the first few; else between them, since a million may leave at once.
        local first = redis.call('GETRANGE', key, integer(h[12] * 8), integer((h[12] + 16) * 8 - 1))
        local near = math.min(16, #first / 8, high) - 1
        while low <= near and struct.unpack('<d', first, low * 8 + 1) <= cutoff do low = low + 1 end
        if low > near then
          while low < high do
            local middle = math.floor((low + high) / 2)
            local from = (h[12] + middle) * 8
            local stamp = redis.call('GETRANGE', key, integer(from), integer(from + 7))
            if #stamp < 8 or struct.unpack('<d', stamp) <= cutoff then low = middle + 1 else high = middle end
          end
        end
        if #first == 0 then
          h[11], h[12] = 0, 0
        else
          h[11], h[12] = h[11] - low, h[12] + low
          if low < #first / 8 then
            h[13] = struct.unpack('<d', first, low * 8 + 1)
          else
            local from = h[12] * 8
            local stamp = redis.call('GETRANGE', key, integer(from), integer(from + 7))
            h[13] = #stamp == 8 and struct.unpack('<d', stamp) or h[14]
          end
        end
      end
    end
  end
  return h
end

local function running_in(scope)
  local number = running[scope]
  if not number then
    holder_of(scope)  -- Finds out whether the clock was turned back.
    number = redis.call('ZCOUNT', KEYS[scope + 11], '(' .. integer(now), '+inf')
    running[scope] = number
  end
  return number
end

local function used_of(scope, kind)
  if kind == 2 then return running_in(scope) end
  local h = holder_of(scope)
  if kind == 0 then return h[11] end
  local at = place(h, day)
  return at and h[at + 1] or 0
end

-- Microseconds until an admission of the minute leaves it.
local function leaves_in(stamp)
  local wait = stamp + MINUTE - now
  if wait < 1 then return 1 end
  return wait > MINUTE and MINUTE or wait
end

-- Whole seconds until more is available; 0 when nothing is used.
local function reset_of(scope, kind, used)
  if used == 0 then return 0 end
  if kind == 0 then return math.ceil(leaves_in(holder_of(scope)[13]) / 1000000) end
  if kind == 2 then return 30 end
  local left = day_end - seconds
  return left < 1 and 1 or left
end

-- Microseconds to wait, 0 to pass, and 1 if nothing but an operator can shorten the wait.
local function verdict(scope, kind, quantity, used)
  if kind == 0 then
    if quantity == 0 then return MINUTE, 1 end
    if used < quantity then return 0, 1 end
    local h = holder_of(scope)
    if used == quantity then return leaves_in(h[13]), 1 end
    local from = (h[12] + used - quantity) * 8
    local stamp = redis.call('GETRANGE', KEYS[scope + 8], integer(from), integer(from + 7))
    return leaves_in(#stamp == 8 and struct.unpack('<d', stamp) or h[14]), 1
  end
  if kind == 2 then
    if used < quantity then return 0, 1 end
    return (1 + args[4]) * 1000000, 0
  end
  if used + least <= quantity then return 0, 1 end
  local h = holder_of(scope)
  local at = place(h, day)
  local reserved = at and h[at + 2] or 0
  local wait = day_end * 1000000 - now
  return wait < 1 and 1 or wait, used - reserved >= quantity and 1 or 0
end

local useds, resets, exceeded = {}, {}, {}
local output, longest, failing, certain = args[2], 0, 0, 0

local function judge()
  for i = 1, count do
    local code, quantity = codes[i], quantities[i]
    local scope, kind = math.floor(code / 6), math.floor(code % 6 / 2)
    local used = used_of(scope, kind)
    local wait, is_certain = verdict(scope, kind, quantity, used)
    useds[i] = used
    if wait > 0 then
      exceeded[i], resets[i] = 1, math.max(1, math.ceil(wait / 1000000))
    else
      exceeded[i], resets[i] = 0, reset_of(scope, kind, used)
    end
    if code % 2 == 0 then
      if wait > longest then
        longest, failing, certain = wait, i, is_certain
      elseif wait == 0 and kind == 1 then
        output = math.max(0, math.min(output, quantity - used - prompt))
      end
    end
  end
end

local function measure()
  for i = 1, count do
    local scope, kind = math.floor(codes[i] / 6), math.floor(codes[i] % 6 / 2)
    local used = used_of(scope, kind)
    useds[i], resets[i] = used, reset_of(scope, kind, used)
  end
end

-- Appends the states to an answer: code, quantity, used, reset, exceeded.
local function tell(answer)
  local at = #answer
  for i = 1, count do
    answer[at + 1], answer[at + 2], answer[at + 3] = codes[i], quantities[i], useds[i]
    answer[at + 4], answer[at + 5] = resets[i], exceeded[i]
    at = at + 5
  end
  return answer
end
