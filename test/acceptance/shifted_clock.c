// The clock of a process, CLOCK_SHIFT seconds off: preloaded by tests of a clock that jumps. Only
// the time of day moves. It asks the kernel itself and allocates nothing, because the program's
// allocator asks for the time before main.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t Shift(void) {
  const char* seconds = getenv("CLOCK_SHIFT");
  return seconds == NULL ? 0 : (time_t)atoll(seconds);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    now->tv_sec += Shift();
  }
  return failed;
}

int gettimeofday(struct timeval* now, void* zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* out) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  if (out != NULL) *out = exact.tv_sec;
  return exact.tv_sec;
}
