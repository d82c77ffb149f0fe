-- Turns a reservation into a charge and frees its lease. KEYS: the record, then counters and leases, each of subject,
-- of tenant and, for callers whose address counts, of the address; last, if a guest asks, what it has handed over.
-- ARGV: 1 packed doubles: tokens (-1 for as reserved), 1 if an unknown ask is charged, what it is charged (less than 0
-- gives back), flags of the scopes that count tokens (1, 2, 4), day's number and end in seconds, the epoch of the
-- counters for a correction (else -1); 2 the request id.
-- Answers 2 (version) and: 0 settled, 1 repeated, 2 unknown; then, where an account has taken over a guest together
-- with the reservation: the account, what it is to be corrected by, the epoch of its counters, day's number and end.
-- An ask that is not known is left to `unrecorded.lua`, which follows.
local call, keys = redis.call, KEYS
local scopes = (#keys - 1 - (#keys - 1) % 2) / 2
local read = call('MGET', unpack(keys, 1, scopes + 1))
local settled, output, reserved, day, _, day_end, start, lease, flags, epoch1, epoch2, epoch3
if read[1] then
  settled, output, reserved, day, _, day_end, start, lease, flags, epoch1, epoch2, epoch3 =
    struct.unpack(RECORD, read[1])
end

if lease and lease + MEMORY > now then
  local charged = struct.unpack('<d', ARGV[1])
  if charged < 0 then charged = reserved end
  local verdict = settled == 1 and 1 or 0
  if verdict == 0 then
    local flag = 1
    for scope = 0, scopes - 1 do
      local counts, runs = flags % (flag + flag) >= flag, flags % (16 * flag) >= 8 * flag
      flag = flag + flag
      if counts or runs then
        local blob = read[scope + 2]
        local h = blob and {struct.unpack(HOLDER, blob)} or {0, now, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0}
        if counts then
          local place = h[3] == day and 3 or h[7] == day and 7
          if not blob then
            place = 3
            h[3], h[6] = day, day_end
          end
          if place then
            -- Of what a reset has wiped out nothing is left to give back.
            local epoch = scope == 0 and epoch1 or scope == 1 and epoch2 or epoch3
            local held = blob and h[2] == epoch and reserved or 0
            local used, left = h[place + 1] - held + charged, h[place + 2] - held
            h[1], h[place + 1], h[place + 2] =
              now, used < 0 and 0 or used > LARGEST and LARGEST or used, left < 0 and 0 or left
          end
        end
        if runs then
          local removed = call('ZREM', keys[scope + scopes + 2], ARGV[2] .. (start - start % 1000000) / 1000000)
          if removed == 1 and h[17] > 0 then h[1], h[17] = now, h[17] - 1 end
        end
        -- What has changed was written now. See `save` in `tools.lua`.
        if h[1] == now then
          local day_life, wanted = ((h[6] > h[10] and h[6] or h[10]) + 7200) * 1000000, now + MEMORY
          if h[18] >= day_life and h[18] >= wanted then
            call('SETRANGE', keys[scope + 2], '0', struct.pack(HOLDER, unpack(h)))
          else
            h[18] = day_life > wanted and day_life or wanted + MEMORY
            call('SET', keys[scope + 2], struct.pack(HOLDER, unpack(h)), 'PX', math.floor((h[18] - now) / 1000))
          end
        end
      end
    end
    -- The record goes on living as long as when its lease was last renewed: five minutes beyond it.
    -- What is written is the packed double 1.
    call('SETRANGE', keys[1], '0', '\0\0\0\0\0\0\240\63')
  end

  -- The correction of the account that has taken the reservation over. Told with every repetition too, since the first
  -- answer may have been lost; an account is corrected once.
  local handed_over = keys[2 * scopes + 2]
  local takings = handed_over and charged ~= reserved and flags % 2 == 1 and call('HGET', handed_over, 'a')
  if takings then
    for _, taking in ipairs(cmsgpack.unpack(takings)) do
      if taking[1] > start then
        if taking[2] ~= day or taking[4] ~= epoch1 then break end
        if verdict == 0 then call('HINCRBY', handed_over, string.format('d%.0f', day), charged - reserved) end
        return {2, verdict, taking[3], charged - reserved, taking[5], day, day_end}
      end
    end
  end
  return {2, verdict}
end
