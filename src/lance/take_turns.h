// One source of work, several threads: what an unordered scan is in every Dataset.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lastword/status.h"

namespace lastword {

/// Calls `next` on one thread at a time until it has nothing more, and `work` with what it gave on
/// `threads` threads side by side, the calling one among them. The first error of either ends it
/// and comes back.
template <typename Piece>
Status TakeTurns(unsigned threads, const std::function<Result<std::optional<Piece>>()>& next,
                 const std::function<Status(Piece& piece)>& work) {
  std::mutex turn;
  bool ended = false;
  Status result = Ok{};
  const auto end = [&](Status status) {
    if (!ended) result = std::move(status);
    ended = true;
  };
  const auto run = [&] {
    for (;;) {
      std::optional<Piece> piece;
      {
        const std::lock_guard lock(turn);
        if (ended) return;
        Result<std::optional<Piece>> given = next();
        if (!given.ok()) return end(given.error());
        if (!*given) return end(Ok{});
        piece = std::move(*given);
      }
      if (Status done = work(*piece); !done.ok()) {
        const std::lock_guard lock(turn);
        // What ended because nothing was left has not been done wholly.
        if (result.ok()) result = std::move(done);
        ended = true;
        return;
      }
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  return result;
}

}  // namespace lastword
