#include "commit/rewrites.h"

#include <algorithm>
#include <utility>

namespace lastword {
namespace {

// A round of more rows is a long one; so is one whose rows take more than such a part of a round's
// memory, so that both together hold little more than one.
constexpr uint64_t kShortRows = 1 << 15;
constexpr uint64_t kShortShare = 8;

bool IsThere(std::span<const Fragment> fragments, uint64_t id) {
  return std::any_of(fragments.begin(), fragments.end(),
                     [&](const Fragment& fragment) { return fragment.id == id; });
}

void DropIfGone(std::optional<Rewrite>& rewrite, std::span<const Fragment> fragments) {
  const auto is_there = [&](uint64_t id) { return IsThere(fragments, id); };
  if (rewrite && !std::all_of(rewrite->fragments.begin(), rewrite->fragments.end(), is_there)) {
    rewrite.reset();
  }
}

std::optional<Rewrite> TakeIfWritten(std::optional<Rewrite>& rewrite,
                                     std::chrono::milliseconds patience) {
  if (!rewrite || !rewrite->running->Wait(patience)) return std::nullopt;
  return std::exchange(rewrite, std::nullopt);
}

}  // namespace

Status Rewrites::Begin(Dataset& dataset, const CompactionPolicy& policy) {
  if (x_long && x_short) return Ok{};
  std::vector<Fragment> free = dataset.fragments();
  std::erase_if(free, [&](const Fragment& fragment) {
    const auto is_of = [&](const std::optional<Rewrite>& rewrite) {
      return rewrite &&
             std::binary_search(rewrite->fragments.begin(), rewrite->fragments.end(), fragment.id);
    };
    return is_of(x_long) || is_of(x_short);
  });
  LW_ASSIGN_OR_RETURN(auto round,
                      x_rounds.Next(dataset, free, policy, x_long ? kShortRows : UINT64_MAX));
  if (!round) return Ok{};
  const uint64_t rows = LiveRowsOf(free, round->request.fragments);
  const double bytes = BytesOfRow(round->widths) * static_cast<double>(rows);
  const bool is_long = rows > kShortRows || bytes > static_cast<double>(x_bytes / kShortShare);
  std::optional<Rewrite>& place = is_long ? x_long : x_short;
  if (place) return Ok{};
  Rewrite begun;
  LW_ASSIGN_OR_RETURN(begun.running, dataset.BeginCompaction(round->request));
  begun.fragments = std::move(round->request.fragments);
  begun.widths = std::move(round->widths);
  begun.read_version = dataset.version();
  place = std::move(begun);
  return Ok{};
}

std::optional<Rewrite> Rewrites::TakeWritten(const Dataset& dataset,
                                             std::chrono::milliseconds patience) {
  const std::vector<Fragment> fragments = dataset.fragments();
  DropIfGone(x_long, fragments);
  DropIfGone(x_short, fragments);
  const bool forever = patience >= kForever;
  auto written = TakeIfWritten(x_long, forever ? patience : std::chrono::milliseconds(0));
  return written ? std::move(written) : TakeIfWritten(x_short, patience);
}

uint64_t Rewrites::oldest_read() const {
  uint64_t oldest = UINT64_MAX;
  for (const auto* rewrite : {&x_long, &x_short}) {
    if (*rewrite) oldest = std::min(oldest, (*rewrite)->read_version);
  }
  return oldest;
}

void Rewrites::Drop() {
  x_long.reset();
  x_short.reset();
}

}  // namespace lastword
