-- Where a caller stands. Answers 2 (version), 1 if blocked, 1 if operators have set any limit, then the states.
local answer, shows_waits = {2, blocked, steered}, true
