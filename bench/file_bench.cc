// Measures the way of a file into a table beside what the same bytes cost to be parsed alone, in
// one run, taken in turns: ratios decide, absolute figures depend on the machine. The table is
// checked against a model of the stream.
//
//   file_bench [EVENTS] [KEYS] [FOLDER]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/format.h"
#include "bench/parse_only.h"
#include "bench/workload.h"
#include "codec/decoder.h"
#include "commit/engine.h"

namespace lastword {
namespace {

constexpr int kRounds = 3;
constexpr size_t kChunkBytes = 4 << 20;
constexpr uint64_t kCheckpointChanges = 200'000;

struct Stream {
  std::string bytes;  // NDJSON, with padding behind it
  size_t size = 0;
  WorkloadTruth truth;
};

Stream MakeStream(uint64_t events, uint64_t keys) {
  Stream stream;
  stream.truth = MakeWorkload(WorkloadShapes().front(), events, keys,
                              [&](std::string_view line) { stream.bytes += line; });
  stream.size = stream.bytes.size();
  stream.bytes.append(std::max(kParsePadding, codec::kPaddingBytes), '\0');
  return stream;
}

Schema OrdersSchema() {
  Schema schema;
  Type amount{TypeKind::kDecimal};
  amount.precision = 12;
  amount.scale = 2;
  schema.columns = {{"id", {TypeKind::kInt64}},      {"customer", {TypeKind::kInt64}},
                    {"status", {TypeKind::kString}}, {"amount", amount},
                    {"note", {TypeKind::kString}},   {"qty", {TypeKind::kInt64}}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

codec::TableSpec OrdersSpec() {
  codec::TableSpec spec;
  spec.name = "orders";
  spec.sources = {"orders"};
  spec.schema = OrdersSchema();
  spec.primary_key = {"id"};
  spec.decimal_encoding = codec::TableSpec::DecimalEncoding::kString;
  return spec;
}

// Decodes the whole stream; gives each batch to `take`.
void Decode(const Stream& stream, const std::function<void(ChangeBatch&)>& take) {
  const auto decoder = codec::MakeDecoder(codec::Format::kDebezium, {OrdersSpec()});
  codec::Decoded decoded;
  codec::ChunkPlace place;
  place.input = "bench";
  const std::string_view all(stream.bytes.data(), stream.size);
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.rfind('\n', std::min(all.size() - 1, at + kChunkBytes)) + 1;
    place.byte_offset = at;
    decoder->DecodeLines(all.substr(at, end - at), place, end == all.size(), decoded);
    if (decoded.error) Stop(ToString(*decoded.error));
    take(decoded.tables[0]);
    at = end;
  }
}

void Apply(const Stream& stream, const std::string& uri) {
  TableOptions options;
  options.schema = OrdersSchema();
  const auto storage = MakeLanceStorage(options);
  auto table = TableImpl::Open(uri, options, *storage);
  if (!table.ok()) Stop(ToString(table.error()));
  const auto commit = [&] {
    const auto committed = (*table)->Commit({});
    if (!committed.ok()) Stop(ToString(committed.error()));
  };
  Decode(stream, [&](ChangeBatch& batch) {
    std::vector<Outcome> outcomes;
    const Status applied = (*table)->ApplyBatch(batch, outcomes);
    if (!applied.ok()) Stop(ToString(applied.error()));
    if ((*table)->pending_changes() >= kCheckpointChanges) commit();
  });
  commit();
  Check(**table, stream.truth);
}

void Print(const char* what, std::vector<double> seconds, const Stream& stream, double reference) {
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("%-28s %8.0f k events/s %7.0f MB/s   %5.2f of parse-only   (%.2f-%.2f s)\n", what,
              static_cast<double>(stream.truth.events) / median / 1e3,
              static_cast<double>(stream.size) / median / 1e6, reference / median, seconds.front(),
              seconds.back());
}

int Main(int argc, char** argv) {
  const uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const uint64_t keys = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : events / 10;
  const std::filesystem::path folder = argc > 3 ? argv[3] : "build/bench";
  const Stream stream = MakeStream(events, keys);
  std::vector<double> parse, decode, apply;
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    parse.push_back(SecondsOf([&] {
      if (ParseOnly(stream.bytes, stream.size) == 0) Stop("the parser read nothing");
    }));
    decode.push_back(SecondsOf([&] { Decode(stream, [](ChangeBatch&) {}); }));
    apply.push_back(SecondsOf([&] { Apply(stream, (folder / "orders.lance").string()); }));
  }
  std::vector<double> sorted = parse;
  std::sort(sorted.begin(), sorted.end());
  const double reference = sorted[sorted.size() / 2];
  std::printf("%llu events, %llu keys, %zu bytes, %d rounds; the table equals the model in each\n",
              static_cast<unsigned long long>(events), static_cast<unsigned long long>(keys),
              stream.size, kRounds);
  Print("simdjson, parse only", parse, stream, reference);
  Print("decode to columns", decode, stream, reference);
  Print("apply, synced, checked", apply, stream, reference);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Main(argc, argv);
}
