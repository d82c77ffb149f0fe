-- Where an instance is reached. KEYS: 1 its key. Answers 2 (version), then what `register.lua` was told, empty when it
-- is gone.
return {2, redis.call('GET', KEYS[1]) or ''}
