#pragma once
#include <jwt.h>
#include <stdlib.h>

/// Frees a token that `jwt_encode_str` made; 1.10 has no function for it.
static inline void askgate_jwt_free_string(char *token) { free(token); }
