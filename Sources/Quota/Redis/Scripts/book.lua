-- What scripts share that keep orders. A book is three keys: orders by field, their versions, their ends.

-- Forgets some orders that are over.
local function sweep_orders(orders, versions, ends)
  for _, field in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', integer(now), 'LIMIT', 0, 64)) do
    redis.call('HDEL', orders, field)
    redis.call('ZREM', versions, field)
    redis.call('ZREM', ends, field)
  end
end

-- Writes an order with the next version, which is a time, so that a store that has lost the newest ones tells no older.
local function write_order(orders, versions, ends, field, order)
  local newest = redis.call('ZREVRANGE', versions, 0, 0, 'WITHSCORES')[2]
  order[1] = math.max(now, newest and tonumber(newest) + 1 or 0)
  redis.call('HSET', orders, field, cmsgpack.pack(order))
  redis.call('ZADD', versions, integer(order[1]), field)
  if order[2] > 0 then
    redis.call('ZADD', ends, integer(order[2]), field)
  else
    redis.call('ZREM', ends, field)
  end
end
