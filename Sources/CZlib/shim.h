#pragma once

#include <zlib.h>

/// A macro in the header. Windows of 15 bits; 32 more let gzip and zlib heads be told apart by what comes.
static inline int czlib_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 32); }
