-- Settles an ask of which there is no record.
local args = {struct.unpack('<ddddddd', ARGV[1])}
if args[2] ~= 1 then return {2, 2} end
-- Also an admission that comes late finds the ask settled, and moves nothing.
for scope = 0, scopes - 1 do
  if args[3] ~= 0 and bit.band(args[4], 2 ^ scope) ~= 0 then
    local h = holder(read[scope + 2])
    if args[5] >= math.min(h[3], h[7]) and (args[7] < 0 or h[2] == args[7]) then
      local at = make_place(h, args[5], args[6])
      h[at + 1] = bounded(h[at + 1] + args[3])
      save(KEYS[scope + 2], h)
    end
  end
end
redis.call('SET', KEYS[1], struct.pack(RECORD, 1, 0, 0, args[5], 0, args[6], now, now, 0, 0, 0, 0), 'PX', '300000')
return {2, 0}
