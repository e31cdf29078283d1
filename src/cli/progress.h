// A progress bar on standard error while it is a terminal; nothing anywhere else.
#pragma once

#include <chrono>
#include <cstdint>

#include "source/source.h"

namespace lastword::cli {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { Clear(); }
  /// Draws at most a few times a second.
  void Show(const Source::Progress& progress, uint64_t changes);
  /// Removes the bar, before other lines are printed.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool x_terminal;
  bool x_drawn = false;
  Clock::time_point x_started, x_next;
};

}  // namespace lastword::cli
