-- Where a caller stands. Answers packed doubles: 2 (version), 1 if blocked, 1 if operators have set any limit, then the
-- states.
local answer, to, shows_waits = {2, blocked, steered}, 3, true
