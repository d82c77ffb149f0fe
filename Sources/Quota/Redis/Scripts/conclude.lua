-- Says how the ask with an idempotency key ended. KEYS: 1 the key. ARGV: 1 the question that took it, 2 the record to
-- keep, empty to free the key, 3 its life in milliseconds. Answers 2 (version), then 1 when the question has the key.
local record = redis.call('GET', KEYS[1])
if not record or string.sub(record, 2, 33) ~= ARGV[1] then return {2, 0} end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return {2, 1}
