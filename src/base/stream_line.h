// Writes whole cache lines past the caches: for memory that is written at random and not read soon.
// An ordinary store reads the line first, and takes the place of one that is still wanted. Plain
// copies where the processor has no such store.
#pragma once

#include <cstddef>
#include <cstring>

// ThreadSanitizer does not see such stores.
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define LW_HAS_STREAM_STORES 1
#endif

namespace lastword {

inline constexpr size_t kLineBytes = 64;

/// Copies kLineBytes bytes. `to` is a multiple of 16; at a multiple of kLineBytes nothing is read.
inline void StreamLine(void* to, const void* from) {
#ifdef LW_HAS_STREAM_STORES
  auto* const parts = static_cast<__m128i*>(to);
  const auto* const values = static_cast<const __m128i*>(from);
  for (size_t i = 0; i < kLineBytes / sizeof(__m128i); ++i) {
    _mm_stream_si128(parts + i, _mm_loadu_si128(values + i));
  }
#else
  std::memcpy(to, from, kLineBytes);
#endif
}

/// Orders this thread's StreamLine before its later stores: comes before another thread is told
/// (a mutex given back, a thread that ends) that it may read what was written.
inline void EndStream() {
#ifdef LW_HAS_STREAM_STORES
  _mm_sfence();
#endif
}

}  // namespace lastword
