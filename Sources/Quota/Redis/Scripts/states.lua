-- Ends an answer, of which `to` numbers are there, with the states: for each limit what is used, and twice the seconds
-- to its reset, plus one if it was used up. Code and quantity go before them when operators have set any.
for at = 1, count, 2 do
  local kind = limits[at] % 6
  local h = holders[(limits[at] - kind) / 6 + 1]
  local used, reset = 0, 0
  if kind < 2 then
    used = h[11]
    if used > 0 then
      local left = h[13] + MINUTE - now
      reset = left < 1 and 1 or math.ceil((left > MINUTE and MINUTE or left) / 1000000)
    end
  elseif kind < 4 then
    if h[3] == day then used = h[4] elseif h[7] == day then used = h[8] end
    if used > 0 then reset = day_end > seconds and day_end - seconds or 1 end
  else
    used = h[19]
    if used > 0 then reset = 30 end
  end
  local wait = waits and waits[at]
  if wait and shows_waits then reset = math.max(1, math.ceil(wait / 1000000)) end
  if steered == 1 then
    answer[to + 1], answer[to + 2] = limits[at], limits[at + 1]
    to = to + 2
  end
  answer[to + 1], answer[to + 2] = used, reset * 2 + (wait and 1 or 0)
  to = to + 2
end
return struct.pack(string.sub(NUMBERS, 1, 1 + to), unpack(answer, 1, to))
