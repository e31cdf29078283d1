// Measures what a checkpoint costs as a table's history grows: many small checkpoints of random
// updates on a large table, with compaction and clean-up as they are by default. Prints commit
// times of the first and the last hundred, fragments, disk use beside live data, write
// amplification and the longest pause; ends with exit code 1 where a bound does not hold. The table
// is checked against a model of the stream at the end.
//
//   commit_bench [CHECKPOINTS] [ROWS] [UPDATES] [FOLDER]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "commit/lance_storage.h"
#include "model/digest.h"
#include "model/key.h"

namespace lastword {
namespace {

constexpr uint64_t kLoadRows = 200'000;  // a checkpoint of the first load
// Checkpoints before the first hundred that count: as many fragments as three tiers have, and
// clean-up, which leaves a hundred versions, removes as many files as commits make.
constexpr uint64_t kWarmUp = 600;
constexpr uint64_t kHundred = 100;
constexpr size_t kParts = 10;  // of the run, for a look at what happens in between
constexpr size_t kTextBytes = 90;
constexpr double kPauseMin = 1e-3;  // seconds: a look that found nothing to do is shorter
// What must hold.
constexpr double kGrowthMax = 1.5;  // p50 of the last hundred beside that of the first
constexpr double kDiskMax = 3;      // disk use beside live data
constexpr uint64_t kFragmentsMax = 64;

struct Settings {
  uint64_t checkpoints = 1000;
  uint64_t rows = 1'000'000;
  uint64_t updates = 1000;
  std::filesystem::path folder = "build/bench-commits";
};

[[noreturn]] void Stop(const std::string& what) {
  std::fprintf(stderr, "commit_bench: %s\n", what.c_str());
  std::exit(1);
}

template <typename T>
T Must(Result<T> result) {
  if (!result.ok()) Stop(ToString(result.error()));
  return std::move(*result);
}

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Schema BenchSchema() {
  Schema schema;
  schema.columns = {
      {"id", {TypeKind::kInt64}}, {"n", {TypeKind::kInt64}}, {"text", {TypeKind::kString}}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

// The stream and what the table must hold behind it.
class Stream {
 public:
  explicit Stream(uint64_t rows) : x_newest(rows) {}

  ChangeBatch Of(const std::vector<uint64_t>& keys) {
    ChangeBatch batch;
    batch.rows = Rows(x_schema);
    batch.inputs = {"bench"};
    for (const uint64_t key : keys) Append(key, batch);
    return batch;
  }
  ChangeBatch Load(uint64_t begin, uint64_t end) {
    std::vector<uint64_t> keys;
    for (uint64_t key = begin; key < end; ++key) keys.push_back(key);
    return Of(keys);
  }
  ChangeBatch Updates(uint64_t count) {
    std::vector<uint64_t> keys;
    for (uint64_t i = 0; i < count; ++i) keys.push_back(x_random.Below(x_newest.size()));
    return Of(keys);
  }
  uint64_t newest(uint64_t key) const { return x_newest[key]; }
  uint64_t bytes() const { return x_bytes; }

 private:
  void Append(uint64_t key, ChangeBatch& batch) {
    x_newest[key] = ++x_version;
    std::string text;
    while (text.size() < kTextBytes) text += std::to_string(x_random.Next()) + " ";
    batch.rows.columns[0].AppendFixed(static_cast<int64_t>(key));
    batch.rows.columns[1].AppendFixed(static_cast<int64_t>(x_version));
    batch.rows.columns[2].AppendBytes(text);
    x_bytes += 16 + text.size();
    ChangeHead head;
    const auto row = static_cast<uint32_t>(batch.heads.size());
    head.key_begin = static_cast<uint32_t>(batch.key_bytes.size());
    if (!AppendKey(x_schema, batch.rows, row, batch.key_bytes).ok()) Stop("a key cannot be made");
    head.key_size = static_cast<uint32_t>(batch.key_bytes.size()) - head.key_begin;
    head.key = Hash128(batch.KeyOf(head));
    head.version.hi = x_version;
    head.offset = x_version;
    head.row = row;
    head.digest = x_digester.Digest(batch.rows, row, {}, {});
    batch.heads.push_back(head);
  }

  Schema x_schema = BenchSchema();
  Digester x_digester{x_schema};
  Random x_random{1};
  std::vector<uint64_t> x_newest;
  uint64_t x_version = 0;
  uint64_t x_bytes = 0;
};

struct Sample {
  double commit = 0;  // without maintenance
  double maintenance = 0;
  bool worked = false;  // maintenance found something to do
  uint64_t fragments = 0;
};

uint64_t FolderBytes(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

double Percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(values.size())))];
}

std::vector<double> CommitsOf(const std::vector<Sample>& samples, size_t begin, size_t end) {
  std::vector<double> seconds;
  for (size_t i = begin; i < end; ++i) seconds.push_back(samples[i].commit * 1e3);
  return seconds;
}

void Check(TableImpl& table, const Stream& stream, uint64_t rows) {
  uint64_t seen = 0, wrong = 0;
  const Status scanned = table.Scan(
      [&](const Rows& batch, const Schema& schema) {
        const uint32_t id = *schema.Find("id"), n = *schema.Find("n");
        for (uint64_t i = 0; i < batch.size(); ++i, ++seen) {
          const auto key = static_cast<uint64_t>(batch.columns[id].Fixed<int64_t>(i));
          wrong += key >= rows ||
                   stream.newest(key) != static_cast<uint64_t>(batch.columns[n].Fixed<int64_t>(i));
        }
        return true;
      },
      {});
  if (!scanned.ok()) Stop(ToString(scanned.error()));
  if (seen != rows || wrong != 0) {
    Stop(Message("{} rows, {} expected, {} wrong", seen, rows, wrong));
  }
}

class Bench {
 public:
  explicit Bench(const Settings& settings)
      : x_settings(settings), x_stream(settings.rows), x_uri(settings.folder / "orders.lance") {
    std::filesystem::remove_all(settings.folder);
    std::filesystem::create_directories(settings.folder);
    TableOptions options;
    options.schema = BenchSchema();
    x_storage = MakeLanceStorage(options);
    x_table = Must(TableImpl::Open(x_uri.string(), options, *x_storage));
  }
  ~Bench() { std::filesystem::remove_all(x_settings.folder); }

  int Run() {
    for (uint64_t row = 0; row < x_settings.rows; row += kLoadRows) {
      Checkpoint(x_stream.Load(row, std::min(row + kLoadRows, x_settings.rows)));
    }
    const uint64_t loaded = x_stream.bytes();
    x_samples.clear();
    x_bytes_written = x_bytes_compacted = 0;
    const double seconds = SecondsOf([&] {
      for (uint64_t i = 0; i < x_settings.checkpoints; ++i) {
        Checkpoint(x_stream.Updates(x_settings.updates));
      }
    });
    Check(*x_table, x_stream, x_settings.rows);
    return Report(seconds, x_stream.bytes() - loaded);
  }

 private:
  void Checkpoint(ChangeBatch batch) {
    std::vector<Outcome> outcomes;
    const Status applied = x_table->ApplyBatch(batch, outcomes);
    if (!applied.ok()) Stop(ToString(applied.error()));
    CommitResult result;
    const double seconds = SecondsOf([&] { result = Must(x_table->Commit({})); });
    if (result.maintenance_error) Stop(ToString(*result.maintenance_error));
    Sample sample;
    sample.maintenance = result.maintenance_seconds;
    sample.worked = result.maintenance_seconds > kPauseMin;
    sample.commit = seconds - result.maintenance_seconds;
    sample.fragments = Must(x_table->GetStatus()).fragments;
    x_samples.push_back(sample);
    x_bytes_written += result.bytes_written;
    x_bytes_compacted += result.bytes_compacted;
    if (x_samples.size() % 1000 == 0) {
      std::printf("… %zu checkpoints, the last took %.1f ms, %llu fragments\n", x_samples.size(),
                  sample.commit * 1e3, static_cast<unsigned long long>(sample.fragments));
      std::fflush(stdout);
    }
  }

  int Report(double seconds, uint64_t bytes_in) {
    const size_t size = x_samples.size();
    const size_t first = std::min<size_t>(kWarmUp, size > 2 * kHundred ? size - 2 * kHundred : 0);
    const std::vector<double> early = CommitsOf(x_samples, first, std::min(size, first + kHundred));
    const std::vector<double> late =
        CommitsOf(x_samples, size - std::min<size_t>(size, kHundred), size);
    double maintained = 0;
    std::vector<double> pauses;
    uint64_t fragments = 0;
    for (const Sample& sample : x_samples) {
      maintained += sample.maintenance;
      if (sample.worked) pauses.push_back(sample.maintenance * 1e3);
      fragments = std::max(fragments, sample.fragments);
    }
    const TableStatus status = Must(x_table->GetStatus());
    const double live = static_cast<double>(status.data_bytes) * static_cast<double>(status.rows) /
                        static_cast<double>(status.rows + status.deleted_rows);
    const double disk = static_cast<double>(FolderBytes(x_settings.folder));
    const double growth = Percentile(late, 0.5) / Percentile(early, 0.5);
    std::printf("%zu checkpoints of %llu random updates on %llu rows, synced: %.1f s\n", size,
                static_cast<unsigned long long>(x_settings.updates),
                static_cast<unsigned long long>(x_settings.rows), seconds);
    std::printf("commit, checkpoints %zu to %zu:  p50 %.1f ms, p99 %.1f ms\n", first,
                first + early.size(), Percentile(early, 0.5), Percentile(early, 0.99));
    std::printf("commit, the last %zu:           p50 %.1f ms, p99 %.1f ms, %.2f of the first\n",
                late.size(), Percentile(late, 0.5), Percentile(late, 0.99), growth);
    std::printf("commit, p50 of each tenth:");
    for (size_t part = 0; part < kParts; ++part) {
      const size_t begin = size * part / kParts, end = size * (part + 1) / kParts;
      if (begin != end) std::printf(" %.1f", Percentile(CommitsOf(x_samples, begin, end), 0.5));
    }
    std::printf(" ms\n");
    if (pauses.empty()) pauses.push_back(0);
    std::printf(
        "maintenance: %.1f s in all; %zu pauses: p50 %.0f ms, p99 %.0f ms, longest %.0f ms\n",
        maintained, pauses.size(), Percentile(pauses, 0.5), Percentile(pauses, 0.99),
        Percentile(pauses, 1));
    std::printf("fragments: %llu at the end, %llu at most\n",
                static_cast<unsigned long long>(status.fragments),
                static_cast<unsigned long long>(fragments));
    std::printf("disk: %.0f MB, live data %.0f MB: %.2f times\n", disk / 1e6, live / 1e6,
                disk / live);
    std::printf("written for each byte of new rows: %.2f by commits, %.2f by compaction\n",
                static_cast<double>(x_bytes_written) / static_cast<double>(bytes_in),
                static_cast<double>(x_bytes_compacted) / static_cast<double>(bytes_in));
    const bool holds =
        growth <= kGrowthMax && disk <= kDiskMax * live && fragments <= kFragmentsMax;
    std::printf("%s\n", holds ? "all bounds hold" : "A BOUND DOES NOT HOLD");
    return holds ? 0 : 1;
  }

  const Settings x_settings;
  Stream x_stream;
  std::filesystem::path x_uri;
  std::unique_ptr<Storage> x_storage;
  std::unique_ptr<TableImpl> x_table;
  std::vector<Sample> x_samples;
  uint64_t x_bytes_written = 0, x_bytes_compacted = 0;
};

Settings Parse(int argc, char** argv) {
  Settings settings;
  if (argc > 1) settings.checkpoints = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) settings.rows = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) settings.updates = std::strtoull(argv[3], nullptr, 10);
  if (argc > 4) settings.folder = argv[4];
  if (settings.checkpoints == 0 || settings.rows == 0) Stop("nothing to measure");
  return settings;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Bench(lastword::Parse(argc, argv)).Run();
}
