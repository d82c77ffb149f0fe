-- Admits an ask, or refuses it and writes nothing. ARGV 2: the request id.
-- Answers packed doubles: 2 (version) and: 0 admitted, 1 if operators have set any limit, output, reserved, day's
-- number, start, end in seconds | 1 refused, the same, place of the failing limit, wait, for how long no ask can pass |
-- 2 blocked; then the states.
local answer, to, shows_waits

if known then
  answer, to, waits = known, 8, nil
elseif failing > 0 then
  -- What operators have set can end before the wait is over.
  answer = {2, 1, steered, (failing + 1) / 2, longest, certain * math.min(longest, steering_ends - now)}
  to, shows_waits = 6, true
else
  local lease, reserved, flags = now + LEASE, prompt + output, 0
  for at = 1, count, 2 do
    -- An observed limit that would have refused counts as if it had; two limits on one counter count once, of which
    -- the flags tell (64, 128, 256: counts the minute).
    if not (waits and waits[at]) then
      local kind = limits[at] % 6
      local scope = (limits[at] - kind) / 6
      local h, flag = holders[scope + 1], scope == 0 and 1 or scope * 2

      if kind < 2 then
        flag = flag * 64
        if flags % (flag + flag) < flag then
          flags = flags + flag
          local key, stamp = keys[scope + LOGS], now
          if h[11] > 0 and h[14] > now then stamp = h[14] end
          local packed = struct.pack('<d', stamp)
          local length = h[11] > 0 and call('APPEND', key, packed)
          if not length or length ~= (h[12] + h[11] + 1) * 8 then
            -- There is none, or it was lost beside its counters: it begins anew.
            call('SET', key, packed, 'PX', LOG_LIFE)
            h[11], h[12], h[15] = 0, 0, now + LOG_LIFE * 1000
          elseif h[15] < now + 120000000 then
            call('PEXPIRE', key, LOG_LIFE)
            h[15] = now + LOG_LIFE * 1000
          end
          if h[12] > 256 and h[12] > 2 * h[11] then
            call('SET', key, call('GETRANGE', key, h[12] * 8, '-1'), 'PX', LOG_LIFE)
            h[12], h[15] = 0, now + LOG_LIFE * 1000
          end
          if h[11] == 0 then h[13] = stamp end
          h[1], h[11], h[14] = now, h[11] + 1, stamp
        end

      elseif kind < 4 then
        if flags % (flag + flag) < flag then
          flags = flags + flag
          -- The lower of the two days makes room.
          local place = h[3] == day and 3 or h[7] == day and 7
          if not place then
            place = h[3] < h[7] and 3 or 7
            h[place], h[place + 1], h[place + 2] = day, 0, 0
          end
          local used, held = h[place + 1] + reserved, h[place + 2] + reserved
          h[1], h[place + 1], h[place + 2], h[place + 3] =
            now, used > LARGEST and LARGEST or used, held > LARGEST and LARGEST or held, day_end
        end

      else
        flag = flag * 8
        if flags % (flag + flag) < flag then
          flags = flags + flag
          local key, member = keys[scope + LEASES], ARGV[2] .. clock[1]
          if h[16] > now and h[17] >= 0 then
            h[17] = h[17] + call('ZADD', key, lease, member)
          else
            if h[17] ~= 0 then call('ZREMRANGEBYSCORE', key, '-inf', now) end
            call('ZADD', key, lease, member, '+inf', '')
            call('PEXPIRE', key, '90000')
            if h[17] == 0 then
              h[16], h[17] = lease, 1
            else
              h[16] = tonumber(call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
              h[17] = call('ZCARD', key) - 1
            end
          end
          h[1], h[19] = now, h[17]
        end
      end
    end
  end

  -- What has changed was written now. See `save` in `tools.lua`.
  for scope = 0, scopes - 1 do
    local h = holders[scope + 1]
    if h and h[1] == now then
      local day_life, wanted = ((h[6] > h[10] and h[6] or h[10]) + 7200) * 1000000, now + MEMORY
      if h[18] >= day_life and h[18] >= wanted then
        call('SETRANGE', keys[scope + COUNTERS], '0', struct.pack(HOLDER, unpack(h)))
      else
        h[18] = day_life > wanted and day_life or wanted + MEMORY
        call('SET', keys[scope + COUNTERS], struct.pack(HOLDER, unpack(h)), 'PX', math.floor((h[18] - now) / 1000))
      end
    end
  end
  call(
    'SET', keys[1],
    struct.pack(
      RECORD, 0, output, reserved, day, day_start, day_end, now, lease, flags % 64,
      flags % 2 >= 1 and holders[1][2] or 0, flags % 4 >= 2 and holders[2][2] or 0,
      flags % 8 >= 4 and holders[3][2] or 0), 'PX', '330000')
  -- With room for the states of three limits, so that it is laid out once.
  answer, to = {2, 0, steered, output, reserved, day, day_start, day_end, 0, 0, 0, 0, 0, 0}, 8
end
