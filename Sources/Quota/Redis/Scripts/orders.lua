-- Orders that are newer than a version, in their order, lifted ones among them. KEYS: 1 orders, 2 their versions.
-- ARGV 1: numbers as a JSON array: the version, most orders told. Answers 2 (version), then of each its field and what
-- `revise.lua` says an order is.
local args = cjson.decode(ARGV[1])
local answer = {2}
for _, field in ipairs(redis.call(
  'ZRANGEBYSCORE', KEYS[2], '(' .. integer(args[1]), '+inf', 'LIMIT', 0, integer(args[2]))) do
  local blob = redis.call('HGET', KEYS[1], field)
  if blob then
    answer[#answer + 1] = field
    local order = cmsgpack.unpack(blob)
    for i = 1, 8 do answer[#answer + 1] = order[i] end
  end
end
return answer
