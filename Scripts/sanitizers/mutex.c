// Tells the thread sanitizer what a contended lock of Swift's Synchronization library does.
//
// `Mutex` takes and gives back a free lock with atomics inside the caller, which the sanitizer sees. When two threads
// meet, the library lets the kernel hand the lock over (a priority-inheriting futex): neither the library nor the
// kernel is instrumented, so every such hand-over looks like a race. These two functions stand before the library's,
// call them, and name the lock that was taken or is given back. Linked into sanitized builds only (Scripts/sanitize).
//
// Swift's calling convention brings the lock's address in the context register, as for every method that borrows a
// value without a copy.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *address);
void __tsan_release(void *address);

typedef SWIFT void (*lock_slow)(uint32_t thread, SELF void *lock);
typedef SWIFT void (*unlock_slow)(SELF void *lock);

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

static lock_slow real_lock;
static unlock_slow real_unlock;

// Before the first thread is started.
__attribute__((constructor)) static void find_real(void) {
  real_lock = (lock_slow)dlsym(RTLD_NEXT, LOCK_SLOW);
  real_unlock = (unlock_slow)dlsym(RTLD_NEXT, UNLOCK_SLOW);
  // Another toolchain, another lock: better no run than one that proves nothing.
  if (!real_lock || !real_unlock) abort();
}

SWIFT void mutex_lock_slow(uint32_t thread, SELF void *lock) __asm__(LOCK_SLOW);
SWIFT void mutex_lock_slow(uint32_t thread, SELF void *lock) {
  real_lock(thread, lock);
  __tsan_acquire(lock);
}

SWIFT void mutex_unlock_slow(SELF void *lock) __asm__(UNLOCK_SLOW);
SWIFT void mutex_unlock_slow(SELF void *lock) {
  __tsan_release(lock);
  real_unlock(lock);
}
