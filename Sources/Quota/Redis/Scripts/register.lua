-- Says that an instance lives. KEYS: 1 its key. ARGV: 1 where it is reached, 2 the life of that in milliseconds.
-- Answers 2 (version).
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {2}
