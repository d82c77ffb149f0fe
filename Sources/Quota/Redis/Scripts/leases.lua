-- The running asks of one holder. KEYS: 1 its leases. Answers 1 (version), then for each ask its request id, whole
-- seconds since its start and microseconds to the end of its lease.
local answer = {1}
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. integer(now), '+inf', 'WITHSCORES')
for at = 1, #found, 2 do
  answer[#answer + 1] = string.sub(found[at], 1, 32)
  answer[#answer + 1] = math.max(0, math.floor((now - tonumber(string.sub(found[at], 33))) / 1000000))
  answer[#answer + 1] = tonumber(found[at + 1]) - now
end
return answer
