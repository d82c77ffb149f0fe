#pragma once
#include <jansson.h>

// Function-like macros that Swift cannot import.

/// Length of a string's value in bytes, with its start; NULL when the value is no string. The bytes belong to the value.
static inline const char *askgate_json_string(const json_t *value, size_t *length) {
    *length = json_string_length(value);
    return json_string_value(value);
}
