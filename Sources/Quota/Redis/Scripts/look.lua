-- Where a caller stands. Answers 1 (version), 1 if blocked, then the states.
judge()
return tell({1, blocked})
