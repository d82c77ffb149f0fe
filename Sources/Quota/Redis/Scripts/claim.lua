-- Takes an idempotency key for an ask, unless another has it. KEYS: 1 the key. ARGV: 1 the record, 2 its life in
-- milliseconds. Answers 2 (version), then the record that is there already, empty when there was none.
local record = redis.call('GET', KEYS[1])
if record then return {2, record} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {2, ''}
