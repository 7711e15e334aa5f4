// Atomic access to a word, in the memory model of C. Swift has none of its own before macOS 15 and iOS 18; on Linux nothing of this is
// used. Orders are the numbers of `memory_order`, constants where a caller is optimised.
#ifndef DAO_ATOMICS_H
#define DAO_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t dao_atomic_load(const uint64_t *word, int order) { return __atomic_load_n(word, order); }

static inline void dao_atomic_store(uint64_t *word, uint64_t value, int order) { __atomic_store_n(word, value, order); }

static inline uint64_t dao_atomic_exchange(uint64_t *word, uint64_t value, int order) { return __atomic_exchange_n(word, value, order); }

// Stores the value that was found in `expected`. Where it is another one, nothing is written, and so nothing released.
static inline bool dao_atomic_compare_exchange(uint64_t *word, uint64_t *expected, uint64_t value, int order) {
    int failure = order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED : order == __ATOMIC_ACQ_REL ? __ATOMIC_ACQUIRE : order;
    return __atomic_compare_exchange_n(word, expected, value, false, order, failure);
}

static inline uint64_t dao_atomic_add(uint64_t *word, uint64_t value, int order) { return __atomic_fetch_add(word, value, order); }

static inline uint64_t dao_atomic_or(uint64_t *word, uint64_t value, int order) { return __atomic_fetch_or(word, value, order); }

static inline uint64_t dao_atomic_and(uint64_t *word, uint64_t value, int order) { return __atomic_fetch_and(word, value, order); }

static inline void dao_atomic_acquiring_fence(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }

#endif
