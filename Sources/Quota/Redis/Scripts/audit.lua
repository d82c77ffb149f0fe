-- A page of the trail, newest first. KEYS: 1 the trail. ARGV: 1 numbers as a JSON array: entries, and milliseconds for
-- which one is kept; 2 where to begin ('+' or '(' and an entry's id).
-- Answers 2 (version), then for each entry its id and its fields, empty where it has none: entries of earlier releases
-- have fewer.
local args = cjson.decode(ARGV[1])
local answer = {2}
for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], ARGV[2], '-', 'COUNT', integer(args[1]))) do
  local at = tonumber(string.match(entry[2][2], '^%d+'))
  if not at or at + args[2] * 1000 <= now then break end
  answer[#answer + 1] = entry[1]
  for i = 2, 16, 2 do answer[#answer + 1] = entry[2][i] or '' end
end
return answer
