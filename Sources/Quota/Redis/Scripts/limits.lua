-- Judges limits: brings the counters up to now and finds which limits are used up, which of them fails, and the output
-- that is left. Functions are made only where one rarely comes by, see `tools.lua`.
local LOG_LIFE = 600000
-- By scope + 1: the counters; 19 is how many asks run.
local holders = {false, false, false}
-- By place among the limits: the wait of each limit that is used up, in microseconds.
local waits
local longest, failing, certain = 0, 0, 0

for at = 1, count, 2 do
  local code, quantity = limits[at], limits[at + 1]
  local kind = code % 6
  local scope = (code - kind) / 6
  local h = holders[scope + 1]

  -- The counters, brought up to now.
  if not h then
    local blob = read[scope + COUNTERS]
    if not blob then
      h = {0, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0}
    else
      h = {struct.unpack(HOLDER, blob)}
      if now < h[1] - 1000000 then
        -- The clock was turned back: what lies ahead of it is taken as of now, so that no entry outlives its time.
        if h[11] > 0 and h[14] > now then
          local log = call('GETRANGE', keys[scope + LOGS], h[12] * 8, (h[12] + h[11]) * 8 - 1)
          local entries = {}
          for from = 1, #log - 7, 8 do
            local stamp = struct.unpack('<d', log, from)
            entries[#entries + 1] = struct.pack('<d', stamp > now and now or stamp)
          end
          h[11], h[12], h[14], h[15] = #entries, 0, now, now + LOG_LIFE * 1000
          if h[13] > now then h[13] = now end
          call('SET', keys[scope + LOGS], table.concat(entries), 'PX', LOG_LIFE)
        end
        local leases, latest = keys[scope + LEASES], now + LEASE
        for _, lease in ipairs(call('ZRANGEBYSCORE', leases, string.format('(%.0f', latest), '(+inf')) do
          call('ZADD', leases, latest, lease)
        end
        local life = math.max(MEMORY * 2, (math.max(h[6], h[10]) + 7200) * 1000000 - now)
        h[1], h[16], h[17], h[18] = now, 0, -1, now + life
        call('SET', keys[scope + COUNTERS], struct.pack(HOLDER, unpack(h)), 'PX', math.floor(life / 1000))
      end
      if h[11] > 0 and h[13] <= now - MINUTE then
        -- Forgets admissions that have left the minute; an admission exactly a minute old has left.
        local cutoff = now - MINUTE
        -- Mostly the first few; else between them, since a million may leave at once.
        local first = h[14] > cutoff and call('GETRANGE', keys[scope + LOGS], h[12] * 8, (h[12] + 16) * 8 - 1)
        if not first or #first == 0 then
          h[11], h[12] = 0, 0
        else
          local low, high = 0, h[11] - 1
          local near = math.min(16, #first / 8, high) - 1
          while low <= near and struct.unpack('<d', first, low * 8 + 1) <= cutoff do low = low + 1 end
          local stamp
          if low > near then
            local function entry(index)
              local from = (h[12] + index) * 8
              local bytes = call('GETRANGE', keys[scope + LOGS], from, from + 7)
              return #bytes == 8 and struct.unpack('<d', bytes) or nil
            end
            while low < high do
              local middle = math.floor((low + high) / 2)
              local at_middle = entry(middle)
              if not at_middle or at_middle <= cutoff then low = middle + 1 else high = middle end
            end
            if low >= #first / 8 then stamp = entry(low) or h[14] end
          end
          h[11], h[12] = h[11] - low, h[12] + low
          h[13] = stamp or struct.unpack('<d', first, low * 8 + 1)
        end
      end
    end
    holders[scope + 1] = h
  end

  -- What is used of the limit.
  local used, needed = 0, 1
  if kind < 2 then
    used = h[11]
  elseif kind < 4 then
    if h[3] == day then used = h[4] elseif h[7] == day then used = h[8] end
    needed = least
  else
    if h[17] ~= 0 and h[16] <= now then
      -- Some may have died.
      h[19] = call('ZCOUNT', keys[scope + LEASES], string.format('(%.0f', now), '(+inf')
    else
      h[19] = h[17]
    end
    used = h[19]
  end

  if used + needed > quantity then
    -- Microseconds to wait, and 1 if nothing but operators can shorten the wait.
    local wait, is_certain = MINUTE, 1
    if kind >= 4 then
      wait, is_certain = (1 + chance) * 1000000, 0
    elseif kind >= 2 then
      local reserved = h[3] == day and h[5] or h[7] == day and h[9] or 0
      wait = math.max(1, day_end * 1000000 - now)
      is_certain = used - reserved >= quantity and 1 or 0
    elseif quantity > 0 then
      local stamp = h[13]
      if used > quantity then
        local from = (h[12] + used - quantity) * 8
        local bytes = call('GETRANGE', keys[scope + LOGS], from, from + 7)
        stamp = #bytes == 8 and struct.unpack('<d', bytes) or h[14]
      end
      wait = math.min(math.max(1, stamp + MINUTE - now), MINUTE)
    end
    waits = waits or {}
    waits[at] = wait
    if kind % 2 == 0 and wait > longest then longest, failing, certain = wait, at, is_certain end
  elseif kind == 2 and output > quantity - used - prompt then
    output = math.max(0, quantity - used - prompt)
  end
end
