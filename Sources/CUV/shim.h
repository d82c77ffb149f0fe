#pragma once
#include <sys/prctl.h>
#include <sys/socket.h>
#include <uv.h>

/// prctl is variadic, which Swift can't call.
static inline void cuv_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/// The header declares it for GNU sources only, and that switch would change types that other modules share.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
