// Stands in for Apple's lock, so that code for it runs on Linux: on a mutex, which like that lock is open when all its bytes are zero.
#include <pthread.h>

typedef struct { pthread_mutex_t mutex; } os_unfair_lock;

static inline void os_unfair_lock_lock(os_unfair_lock *lock) { pthread_mutex_lock(&lock->mutex); }
static inline void os_unfair_lock_unlock(os_unfair_lock *lock) { pthread_mutex_unlock(&lock->mutex); }
