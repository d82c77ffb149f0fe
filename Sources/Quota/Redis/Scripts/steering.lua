-- What operators have set for one holder. KEYS: 1 its steering. Answers 1 (version), the holder's version, then for
-- each kind quantity (-1 for none) and end (0 for none), and the block (-1 none, 0 until lifted, else its end).
local blob = redis.call('GET', KEYS[1])
if not blob then return {1, 0, -1, 0, -1, 0, -1, 0, -1} end
local s = {struct.unpack('<dddddddd', blob)}
for at = 2, 6, 2 do
  if s[at + 1] ~= 0 and s[at + 1] <= now then s[at], s[at + 1] = -1, 0 end
end
if s[8] > 0 and s[8] <= now then s[8] = -1 end
return {1, s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8]}
