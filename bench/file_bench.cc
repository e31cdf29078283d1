// Takes the way of a file into a table apart, beside what the same bytes cost to be parsed alone,
// in one run, taken in turns: the ratio of each round to the parser of that round decides. The file
// lies on disk and goes through the step loop as `lastword apply` drives it; the table is checked
// against the truth of the stream, outside the measured time.
//
//   file_bench [EVENTS] [KEYS] [FOLDER] [STEP]      STEP: only one of parse, decode, alone, apply
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "bench/orders_spec.h"
#include "bench/parse_only.h"
#include "commit/lance_storage.h"
#include "pipeline/apply_run.h"
#include "source/file/file_source.h"

namespace lastword {
namespace {

constexpr int kRounds = 5;
constexpr size_t kChunkBytes = 4 << 20;
constexpr uint64_t kCheckpointChanges = 200'000;

// The shape that DESIGN's targets are about.
const WorkloadShape& Shape() {
  return WorkloadShapes().front();
}

struct Stream {
  std::string bytes;  // NDJSON, with padding behind it
  size_t size = 0;
  WorkloadTruth truth;
};

Stream MakeStream(uint64_t events, uint64_t keys) {
  Stream stream;
  stream.truth =
      MakeWorkload(Shape(), events, keys, [&](std::string_view line) { stream.bytes += line; });
  stream.size = stream.bytes.size();
  stream.bytes.append(std::max(kParsePadding, codec::kPaddingBytes), '\0');
  return stream;
}

// Wall time, and that of all processors together: what a busy machine stretches least.
struct Times {
  std::vector<double> wall, processor;
};

void Measure(Times& times, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  work();
  times.processor.push_back(static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
  times.wall.push_back(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

[[noreturn]] void Stop(const std::string& what) {
  std::fprintf(stderr, "file_bench: %s\n", what.c_str());
  std::exit(1);
}

void Check(TableImpl& table, const WorkloadTruth& truth) {
  WorkloadTruth seen;
  const Status scanned = table.Scan(
      [&](const Rows& batch, const Schema& schema) {
        const uint32_t id = *schema.Find("id"), qty = *schema.Find("qty");
        for (uint64_t i = 0; i < batch.size(); ++i, ++seen.rows) {
          const auto key = batch.columns[id].Fixed<int64_t>(i);
          const auto value = batch.columns[qty].Fixed<int64_t>(i);
          seen.sum_id += key;
          seen.sum_qty += value;
          seen.sum_id_qty += key * value;
        }
        return true;
      },
      {});
  if (!scanned.ok()) Stop(ToString(scanned.error()));
  if (seen.rows != truth.rows || seen.sum_id != truth.sum_id || seen.sum_qty != truth.sum_qty ||
      seen.sum_id_qty != truth.sum_id_qty) {
    Stop(Message("the table is wrong: {} rows, {} expected", seen.rows, truth.rows));
  }
}

// Decodes the whole stream on one thread and keeps nothing.
void Decode(const Stream& stream) {
  const auto decoder = codec::MakeDecoder(codec::Format::kDebezium, {OrdersSpec(Shape())});
  codec::Decoded decoded;
  codec::ChunkPlace place;
  place.input = "bench";
  const std::string_view all(stream.bytes.data(), stream.size);
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.rfind('\n', std::min(all.size() - 1, at + kChunkBytes)) + 1;
    place.byte_offset = at;
    decoder->DecodeLines(all.substr(at, end - at), place, end == all.size(), decoded);
    if (decoded.error) Stop(ToString(*decoded.error));
    at = end;
  }
}

template <typename T>
T Must(Result<T> result) {
  if (!result.ok()) Stop(ToString(result.error()));
  return std::move(*result);
}

// The file at `path` into a table at `uri`; `threads` decode ahead.
void Apply(const std::string& path, const std::string& uri, uint32_t threads) {
  const codec::TableSpec spec = OrdersSpec(Shape());
  TableConfig config;
  config.name = spec.name;
  config.sources = spec.sources;
  config.primary_key = spec.primary_key;
  config.columns = spec.schema.columns;
  config.decimal_encoding = spec.decimal_encoding;
  const TableOptions options;
  const auto storage = MakeLanceStorage(options);
  std::vector<Destination> destinations;
  destinations.push_back(Must(Destination::Open(config, uri, options, *storage)));
  std::vector<std::unique_ptr<codec::Decoder>> ahead;
  while (ahead.size() < threads) ahead.push_back(codec::MakeDecoder(codec::Format::kDebezium, {}));
  file::FileSource source({.paths = {path}}, codec::MakeDecoder(codec::Format::kDebezium, {}),
                          std::move(ahead));
  ApplyOptions apply;
  apply.checkpoint_every = kCheckpointChanges;
  ApplyRun run(source, std::move(destinations), std::move(apply));
  const Status started = run.Start();
  if (!started.ok()) Stop(ToString(started.error()));
  while (Must(run.Step())) continue;
}

void CheckTable(const std::string& uri, const WorkloadTruth& truth) {
  const TableOptions options;
  const auto storage = MakeLanceStorage(options);
  Check(*Must(TableImpl::Open(uri, options, *storage)), truth);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Print(const char* what, const Times& times, const Stream& stream, const Times& parse) {
  if (times.wall.empty()) return;
  const auto events = static_cast<double>(stream.truth.events);
  const double wall = Median(times.wall);
  std::printf("%-22s %7.0f k events/s %6.0f MB/s %6.2f us of processor an event", what,
              events / wall / 1e3, static_cast<double>(stream.size) / wall / 1e6,
              Median(times.processor) / events * 1e6);
  std::vector<double> ratios;
  for (size_t i = 0; i < parse.wall.size(); ++i) ratios.push_back(parse.wall[i] / times.wall[i]);
  if (!ratios.empty()) {
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("  %5.2f of parse-only (%.2f-%.2f)", Median(ratios), *low, *high);
  }
  std::printf("\n");
}

int Main(int argc, char** argv) {
  const uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const uint64_t keys = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : events / 10;
  const std::filesystem::path folder = argc > 3 ? argv[3] : "build/bench";
  const std::string_view only = argc > 4 ? argv[4] : "";
  const Stream stream = MakeStream(events, keys);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "events.ndjson").string();
  const std::string uri = (folder / "orders.lance").string();
  std::ofstream(path).write(stream.bytes.data(), static_cast<std::streamsize>(stream.size));
  Times parse, decode, alone, apply;
  for (int round = 0; round < kRounds; ++round) {
    const auto measure = [&](std::string_view step, Times& times,
                             const std::function<void()>& work) {
      if (only.empty() || only == step) Measure(times, work);
    };
    measure("parse", parse, [&] {
      if (ParseOnly(stream.bytes, stream.size) == 0) Stop("the parser read nothing");
    });
    measure("decode", decode, [&] { Decode(stream); });
    for (const bool ahead : {false, true}) {
      std::filesystem::remove_all(uri);
      std::filesystem::remove_all(uri + ".lastword");
      measure(ahead ? "apply" : "alone", ahead ? apply : alone,
              [&] { Apply(path, uri, ahead ? std::thread::hardware_concurrency() : 0); });
      if (only.empty()) CheckTable(uri, stream.truth);
    }
  }
  std::printf("%llu events, %llu keys, %zu bytes, %d rounds; the table is right in each\n",
              static_cast<unsigned long long>(events), static_cast<unsigned long long>(keys),
              stream.size, kRounds);
  Print("simdjson, parse only", parse, stream, parse);
  Print("decode to columns", decode, stream, parse);
  Print("apply on one thread", alone, stream, parse);
  Print("apply, decoding ahead", apply, stream, parse);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Main(argc, argv);
}
