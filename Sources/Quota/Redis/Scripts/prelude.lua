-- askgate quota script, version 2
-- Joined before every script. All times are microseconds of the store's clock, unless a name says otherwise.
local clock = redis.call('TIME')
local seconds = clock[1] + 0
local now = seconds * 1000000 + clock[2]
local MINUTE, LEASE, MEMORY = 60000000, 30000000, 300000000
local LARGEST = 9007199254740992
-- One holder's counters, packed as doubles, which hold every integer to 2^53:
-- 1 last write, 2 epoch of the token counters, 3-6 one day (number, used, reserved, end in seconds), 7-10 another,
-- 11 admissions in the minute's log, 12 dead entries before them, 13 oldest and 14 newest of them,
-- 15 until when the log has a time to live, 16 until when no lease can have died, 17 leases in the set, dead ones
-- that were not cleared away among them, -1 for unknown, 18 until when this key lives
-- A set of leases holds the empty member besides, which never dies: the set is not made anew for every ask.
local HOLDER = '<dddddddddddddddddd'
-- A record: 1 settled, 2 output, 3 reserved, 4-6 day, 7 start, 8 end of the lease, 9 flags (1, 2, 4 reserves in
-- subject, tenant, address; 8, 16, 32 runs there), 10-12 epochs of the counters at admission.
local RECORD = '<dddddddddddd'
-- Cut to length it reads and writes so many numbers, of which no more are ever told.
local NUMBERS = '<dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd'
