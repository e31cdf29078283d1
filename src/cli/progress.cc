#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "base/format.h"

namespace lastword::cli {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(200);
constexpr uint64_t kBarWidth = 30;

}  // namespace

ProgressBar::ProgressBar()
    : x_terminal(isatty(STDERR_FILENO) == 1),
      x_started(Clock::now()),
      x_next(x_started + kRedrawInterval) {}

void ProgressBar::Show(const Source::Progress& progress, uint64_t changes) {
  if (!x_terminal) return;
  const Clock::time_point now = Clock::now();
  if (now < x_next) return;
  x_next = now + kRedrawInterval;
  const double seconds = std::chrono::duration<double>(now - x_started).count();
  std::string line;
  if (progress.total != 0) {
    const uint64_t done = std::min(progress.done, progress.total);
    const uint64_t filled = done * kBarWidth / progress.total;
    line = Message("[{}{}] {:3}%  ", std::string(filled, '#'), std::string(kBarWidth - filled, ' '),
                   done * 100 / progress.total);
  }
  line += Message("{} changes, {:.0f}/s", changes, static_cast<double>(changes) / seconds);
  std::cerr << "\r\033[K" << line << std::flush;
  x_drawn = true;
}

void ProgressBar::Clear() {
  if (x_drawn) std::cerr << "\r\033[K" << std::flush;
  x_drawn = false;
}

}  // namespace lastword::cli
