// Measures decoding, collapse and index together by the number of keys that the index holds,
// without Lance: one stream of updates on uniform keys, decoded, applied and put into the index
// every 200,000 changes. Sizes are taken in turns, so that a busy moment hits all of them; each is
// compared with the first one. Prints one line a size.
//
//   collapse_bench KEYS…        a size with 'r' behind it: in RocksDB within 2 GiB of `memory`
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/orders_spec.h"
#include "commit/memory_shares.h"
#include "commit/table_index.h"
#include "model/key.h"
#include "state/table_state.h"

namespace lastword {
namespace {

constexpr uint64_t kEvents = 1'000'000;
constexpr int kRounds = 5;
constexpr size_t kChunkBytes = 4 << 20;
constexpr uint64_t kCheckpointChanges = 200'000;
constexpr uint64_t kRocksMemory = 2ull << 30;
constexpr size_t kLoadBatch = 8192;

void Demand(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "collapse_bench: %s\n", what.c_str());
  std::exit(1);
}

void Check(const Status& status) {
  Demand(status.ok(), status.ok() ? "" : status.error().message);
}

// Complete images need no committed row.
class NoRows final : public StoredRows {
 public:
  Result<RowChunk> Take(std::span<const uint64_t>) override {
    return Error{ErrorKind::kInternal, "no row is needed here", {}};
  }
  Status ForEachKey(const KeyVisit&) override { return Ok{}; }
};

const WorkloadShape& Shape() {
  return *FindWorkload("uniform");
}

/// One size: its index, loaded with live keys below every version of the stream, and the stream.
class Size {
 public:
  Size(uint64_t keys, bool rocks) : x_keys(keys), x_rocks(rocks), x_folder("build/bench-collapse") {
    if (rocks) std::filesystem::remove_all(x_folder);
    x_index = std::make_unique<TableIndex>(rocks ? SharesOf(kRocksMemory).index : UINT64_MAX,
                                           rocks ? x_folder : "", false);
    const auto kept = x_index->Open("bench", keys);
    Check(kept.ok() ? Status(Ok{}) : Status(kept.error()));
    const Schema schema = OrdersSpec(Shape()).schema;
    Rows row(schema);
    std::string bytes;
    std::optional<KeyEntry> contradicted;
    std::vector<KeyEntry> batch;
    for (uint64_t key = 0; key < keys; ++key) {
      row.Truncate(0);
      row.columns[0].AppendFixed(static_cast<int64_t>(key));
      bytes.clear();
      Check(AppendKey(schema, row, 0, bytes));
      KeyEntry entry;
      entry.key = Hash128(bytes);
      entry.status = KeyStatus::kLive;
      entry.address = key;
      batch.push_back(entry);
      if (batch.size() < kLoadBatch && key + 1 < keys) continue;
      Check(x_index->Load(batch, contradicted));
      batch.clear();
    }
    Check(x_index->FinishLoad(contradicted));
    Demand(!contradicted && x_index->in_memory() != rocks, "the index is not where it should be");
    MakeWorkload(Shape(), kEvents, keys, [&](std::string_view line) { x_bytes += line; });
    x_size = x_bytes.size();
    x_bytes.append(codec::kPaddingBytes, '\0');
  }
  ~Size() {
    x_index.reset();
    if (x_rocks) std::filesystem::remove_all(x_folder);
  }
  Size(const Size&) = delete;
  Size& operator=(const Size&) = delete;

  // The stream once, at versions above the ones before: each round is of an epoch of its own.
  void Round() {
    NoRows rows;
    TableState state(*x_index, rows, {});
    state.SetSchema(OrdersSpec(Shape()).schema);
    StateHead head;
    head.epoch = ++x_rounds;
    state.Restore(std::move(head), {});
    const auto decoder = codec::MakeDecoder(codec::Format::kDebezium, {OrdersSpec(Shape())});
    codec::Decoded decoded;
    codec::ChunkPlace place;
    place.input = "bench";
    const std::string_view all(x_bytes.data(), x_size);
    uint64_t applied = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (size_t at = 0; at < all.size();) {
      const size_t end = all.rfind('\n', std::min(all.size() - 1, at + kChunkBytes)) + 1;
      place.byte_offset = at;
      decoder->DecodeLines(all.substr(at, end - at), place, end == all.size(), decoded);
      if (decoded.error) Check(Status(*decoded.error));
      std::vector<Outcome> outcomes;
      Check(state.Apply(decoded.tables[0], outcomes));
      applied +=
          static_cast<uint64_t>(std::count(outcomes.begin(), outcomes.end(), Outcome::kApplied));
      if (state.pending_changes() >= kCheckpointChanges || end == all.size()) Checkpoint(state);
      at = end;
    }
    x_seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    Demand(applied == kEvents, "every change is newer than what is known, and was not applied");
  }

  double RateOf(int round) const {
    return static_cast<double>(kEvents) / x_seconds[static_cast<size_t>(round)];
  }
  void Print(const Size& first) const {
    std::vector<double> rates, ratios;
    for (int round = 0; round < kRounds; ++round) {
      rates.push_back(RateOf(round));
      ratios.push_back(RateOf(round) / first.RateOf(round));
    }
    std::sort(rates.begin(), rates.end());
    std::sort(ratios.begin(), ratios.end());
    std::printf("%12llu keys in %-7s %8.0f k events/s  %5.2f of the first (%.2f-%.2f)\n",
                static_cast<unsigned long long>(x_keys), x_rocks ? "RocksDB" : "memory",
                rates[kRounds / 2] / 1e3, ratios[kRounds / 2], ratios.front(), ratios.back());
  }

 private:
  // What a commit does with the state, at addresses that the rows would have.
  static void Checkpoint(TableState& state) {
    auto sealed = state.Seal();
    Check(sealed.ok() ? Status(Ok{}) : Status(sealed.error()));
    std::vector<uint64_t> addresses(sealed->row_keys.size());
    for (size_t i = 0; i < addresses.size(); ++i) addresses[i] = i;
    state.Committed(*sealed, addresses, std::vector<uint64_t>(sealed->ledger_keys.size()));
  }

  const uint64_t x_keys;
  const bool x_rocks;
  const std::string x_folder;
  std::unique_ptr<TableIndex> x_index;
  std::string x_bytes;
  size_t x_size = 0;
  uint32_t x_rounds = 0;
  std::vector<double> x_seconds;
};

int Main(int argc, char** argv) {
  std::vector<std::unique_ptr<Size>> sizes;
  for (int i = 1; i < argc; ++i) {
    char* behind = nullptr;
    const uint64_t keys = std::strtoull(argv[i], &behind, 10);
    Demand(keys != 0 && (*behind == '\0' || std::string_view(behind) == "r"),
           std::string(argv[i]) + " is no number of keys");
    sizes.push_back(std::make_unique<Size>(keys, *behind == 'r'));
  }
  Demand(!sizes.empty(), "name sizes of the index");
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& size : sizes) size->Round();
  }
  for (const auto& size : sizes) size->Print(*sizes.front());
  return 0;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Main(argc, argv);
}
