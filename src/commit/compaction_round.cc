#include "commit/compaction_round.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace lastword {
namespace {

// Smaller fragments would cost every commit more than they spare.
constexpr uint64_t kRoundBytesMin = 16 << 20;
// What was read and waits for the writer, and one piece of it, as parts of a round's memory.
constexpr uint64_t kBufferShare = 4, kBatchShare = 32;
// Lance's writer makes a page of a column once it holds so many bytes of it.
constexpr double kPageBytes = 8 << 20;
constexpr uint64_t kSampleRows = 64;
// What is known of fragments that are gone is dropped once there are as many times more.
constexpr uint64_t kForgetFactor = 4;

uint64_t BytesOf(const ColumnData& column) {
  if (column.type().kind == TypeKind::kList) {
    return BytesOf(column.child()) + column.size() * sizeof(uint64_t);
  }
  return column.raw_bytes().size() + column.offsets().size() * sizeof(uint64_t);
}

// `count` places, spread over the fragments and within each.
std::vector<RowAddress> Places(std::span<const Fragment> fragments, uint64_t count) {
  std::vector<RowAddress> places;
  for (uint64_t i = 0; i < count; ++i) {
    const Fragment& fragment = fragments[i * fragments.size() / count];
    places.push_back(fragment.id << 32 | fragment.physical_rows * i / count);
  }
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

std::vector<Fragment> Chosen(std::span<const Fragment> fragments, std::span<const uint64_t> ids) {
  std::vector<Fragment> chosen;
  for (const Fragment& fragment : fragments) {
    if (std::binary_search(ids.begin(), ids.end(), fragment.id)) chosen.push_back(fragment);
  }
  return chosen;
}

}  // namespace

double BytesOfRow(std::span<const double> widths) {
  return std::accumulate(widths.begin(), widths.end(), 0.0);
}

RowWidths WidthsOf(const Rows& rows) {
  RowWidths widths;
  for (const ColumnData& column : rows.columns) {
    widths.push_back(static_cast<double>(BytesOf(column)) / static_cast<double>(rows.size()));
  }
  return widths;
}

Result<RowWidths> SampleWidths(Dataset& dataset, std::span<const Fragment> fragments,
                               uint64_t bytes_max) {
  std::vector<std::string> names;
  for (const Column& column : dataset.schema().columns) names.push_back(column.name);
  RowWidths widths(names.size());
  uint64_t sampled = 0, bytes = 0;
  // A single row first: any could be huge.
  for (uint64_t count = 1; count <= kSampleRows && bytes < bytes_max; count *= 4) {
    LW_ASSIGN_OR_RETURN(const Rows rows, dataset.Take(Places(fragments, count), names));
    sampled += rows.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const uint64_t size = BytesOf(rows.columns[i]);
      widths[i] += static_cast<double>(size);
      bytes += size;
    }
  }
  for (double& width : widths) width /= static_cast<double>(std::max<uint64_t>(sampled, 1));
  return widths;
}

uint64_t RowsHeldWithin(std::span<const double> widths, uint64_t bytes) {
  const auto held = [&](uint64_t rows) {
    double sum = 0;
    for (const double width : widths)
      sum += std::min(width * static_cast<double>(rows), kPageBytes);
    return sum;
  };
  uint64_t low = 1, high = UINT32_MAX;
  if (held(high) <= static_cast<double>(bytes)) return UINT64_MAX;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    (held(middle) <= static_cast<double>(bytes) ? low : high) = middle;
  }
  return low;
}

uint64_t LiveRowsOf(std::span<const Fragment> fragments, std::span<const uint64_t> ids) {
  uint64_t rows = 0;
  for (const Fragment& fragment : Chosen(fragments, ids)) rows += fragment.live_rows();
  return rows;
}

CompactionRounds::CompactionRounds(uint64_t bytes) : x_bytes(std::max(bytes, kRoundBytesMin)) {}

CompactionPolicy CompactionRounds::Within(const CompactionPolicy& policy) const {
  CompactionPolicy within = policy;
  within.bytes_max = std::min(policy.bytes_max, x_bytes);
  within.rows_max = std::min(policy.rows_max, x_rows_max);
  return within;
}

void CompactionRounds::Wrote(std::span<const Fragment> fragments, const RowWidths& widths) {
  for (const Fragment& fragment : fragments) x_widths[fragment.id] = widths;
}

void CompactionRounds::ForgetAllBut(std::span<const Fragment> fragments) {
  if (x_widths.size() <= kForgetFactor * (fragments.size() + 1)) return;
  std::set<uint64_t> there;
  for (const Fragment& fragment : fragments) there.insert(fragment.id);
  std::erase_if(x_widths, [&](const auto& known) { return !there.contains(known.first); });
}

Result<RowWidths> CompactionRounds::WidthsIn(Dataset& dataset, std::span<const Fragment> chosen) {
  const size_t columns = dataset.schema().columns.size();
  const auto is_known = [&](const Fragment& fragment) {
    const auto found = x_widths.find(fragment.id);
    return found != x_widths.end() && found->second.size() == columns;
  };
  std::vector<Fragment> unknown;
  for (const Fragment& fragment : chosen) {
    if (!is_known(fragment)) unknown.push_back(fragment);
  }
  if (!unknown.empty()) {
    LW_ASSIGN_OR_RETURN(const RowWidths widths,
                        SampleWidths(dataset, unknown, x_bytes / kBatchShare));
    for (const Fragment& fragment : unknown) x_widths[fragment.id] = widths;
  }
  RowWidths mean(columns);
  double rows = 0;
  for (const Fragment& fragment : chosen) {
    const RowWidths& widths = x_widths[fragment.id];
    const auto share = static_cast<double>(std::max<uint64_t>(fragment.live_rows(), 1));
    for (size_t i = 0; i < columns; ++i) mean[i] += widths[i] * share;
    rows += share;
  }
  for (double& width : mean) width /= rows;
  return mean;
}

Result<std::optional<CompactionRound>> CompactionRounds::Next(Dataset& dataset,
                                                              std::span<const Fragment> fragments,
                                                              const CompactionPolicy& policy,
                                                              uint64_t live_rows_max) {
  CompactionRound round;
  CompactionRequest& request = round.request;
  const std::vector<Fragment> all = dataset.fragments();
  const CompactionPolicy sized = ForSize(policy, all);
  request.fragments = PlanCompaction(fragments, Within(sized));
  const auto is_due = [&] {
    return !request.fragments.empty() && LiveRowsOf(fragments, request.fragments) <= live_rows_max;
  };
  if (!is_due()) return std::optional<CompactionRound>();
  ForgetAllBut(all);
  LW_ASSIGN_OR_RETURN(round.widths, WidthsIn(dataset, Chosen(fragments, request.fragments)));
  x_rows_max = RowsHeldWithin(round.widths, x_bytes);
  const CompactionPolicy within = Within(sized);
  request.fragments = PlanCompaction(fragments, within);
  if (!is_due()) return std::optional<CompactionRound>();
  request.target_rows = within.rows_max;
  request.file_bytes = within.bytes_max;
  request.buffer_bytes = x_bytes / kBufferShare;
  const uint64_t batch_bytes = x_bytes / kBatchShare;
  const double batch_rows =
      static_cast<double>(batch_bytes) / std::max(BytesOfRow(round.widths), 1.0);
  request.batch_rows =
      std::clamp<uint64_t>(static_cast<uint64_t>(batch_rows), 1, request.batch_rows);
  return std::optional(std::move(round));
}

}  // namespace lastword
