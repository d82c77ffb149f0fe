-- Where a caller stands. Answers 2 (version), 1 if blocked, 1 if operators have set any limit, then the states.
judge()
return tell({2, blocked, steered}, true)
