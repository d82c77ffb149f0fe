-- What of an admission needs no judging, see `admit.lua`: an ask that came before is answered as it was then, and
-- otherwise one that is blocked is not let in.
local known
if read[1] then
  local _, output, reserved, its_day, start, ends, _, lease = struct.unpack(RECORD, read[1])
  if lease + MEMORY > now then known = {2, 0, steered, output, reserved, its_day, start, ends} end
end
if blocked == 1 and not known then return struct.pack('<dd', 2, 2) end
