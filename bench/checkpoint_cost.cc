// Checkpoints on a table of a given size, one each time a line arrives on standard input, so that a
// caller can measure others in turns. First loads the table (or opens it), then prints one JSON
// object a checkpoint: random keys, 10 % deletes, the rest upserts, synced.
//
//   checkpoint_cost TABLE ROWS CHANGES
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unordered_set>

#include "base/format.h"
#include "base/random.h"
#include "commit/lance_storage.h"
#include "model/digest.h"
#include "model/key.h"

namespace lastword {
namespace {

constexpr uint64_t kLoadChanges = 500'000;

[[noreturn]] void Stop(const Error& error) {
  std::fprintf(stderr, "checkpoint_cost: %s\n", ToString(error).c_str());
  std::exit(1);
}

Schema PayloadSchema() {
  Schema schema;
  schema.columns = {{"id", {TypeKind::kInt64}}, {"payload", {TypeKind::kString}}};
  schema.key = {0};
  schema.nullable_key = {false};
  return schema;
}

class Batch {
 public:
  explicit Batch(uint64_t hi) : x_hi(hi) {
    x_batch.rows = Rows(x_schema);
    x_batch.inputs = {"0"};
  }

  void Add(int64_t id, bool deleted) {
    const auto row = static_cast<uint32_t>(x_batch.heads.size());
    x_batch.rows.columns[0].AppendFixed(id);
    x_batch.rows.columns[1].AppendBytes(
        Message("payload of key {} as of checkpoint {}, {:060}", id, x_hi, row));
    ChangeHead head;
    head.key_begin = static_cast<uint32_t>(x_batch.key_bytes.size());
    if (const Status status = AppendKey(x_schema, x_batch.rows, row, x_batch.key_bytes);
        !status.ok()) {
      Stop(status.error());
    }
    head.key_size = static_cast<uint32_t>(x_batch.key_bytes.size()) - head.key_begin;
    head.key = Hash128(x_batch.KeyOf(head));
    head.version.hi = x_hi;
    head.offset = (x_hi << 32) + row;
    if (deleted) {
      head.kind = Kind::kDelete;
      head.digest = kDeleteDigest;
    } else {
      head.row = row;
      head.digest = x_digester.Digest(x_batch.rows, row, {}, {});
    }
    x_batch.heads.push_back(head);
  }
  ChangeBatch& batch() { return x_batch; }

 private:
  const uint64_t x_hi;
  Schema x_schema = PayloadSchema();
  Digester x_digester{x_schema};
  ChangeBatch x_batch;
};

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Time that all threads of this process had a core: beside other work only this says something.
double CoreSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Cost {
  double apply_ms = 0, commit_ms = 0;
  CommitResult result;
};

Cost Write(TableImpl& table, Batch& batch) {
  std::vector<Outcome> outcomes;
  const double begin = Seconds();
  if (const Status applied = table.ApplyBatch(batch.batch(), outcomes); !applied.ok()) {
    Stop(applied.error());
  }
  const double between = Seconds();
  const auto committed = table.Commit({});
  if (!committed.ok()) Stop(committed.error());
  return {(between - begin) * 1e3, (Seconds() - between) * 1e3, *committed};
}

int Main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: checkpoint_cost TABLE ROWS CHANGES\n");
    return 2;
  }
  const uint64_t rows = std::strtoull(argv[2], nullptr, 10);
  const uint64_t changes = std::min<uint64_t>(rows, std::strtoull(argv[3], nullptr, 10));
  TableOptions options;
  options.schema = PayloadSchema();
  options.memory_bytes_max = 20ull << 30;  // the index of 100 M keys in memory
  const auto storage = MakeLanceStorage(options);
  const double begin = Seconds(), core_begin = CoreSeconds();
  auto table = TableImpl::Open(argv[1], options, *storage);
  if (!table.ok()) Stop(table.error());
  const double opened = Seconds() - begin, core = CoreSeconds() - core_begin;
  uint64_t hi = 1;
  for (uint64_t id = (*table)->count_rows() == 0 ? 0 : rows; id < rows;) {
    Batch load(hi++);
    for (uint64_t i = 0; i < kLoadChanges && id < rows; ++i, ++id) {
      load.Add(static_cast<int64_t>(id), false);
    }
    Write(**table, load);
  }
  std::printf("%s\n",
              Message(R"({{"open_seconds":{},"open_core_seconds":{}}})", opened, core).c_str());
  std::fflush(stdout);
  hi = (*table)->GetStatus()->lance_version + hi;
  Random random(hi);
  for (std::string line; std::getline(std::cin, line);) {
    Batch batch(++hi);
    std::unordered_set<uint64_t> keys;
    while (keys.size() < changes) {
      const uint64_t key = random.Below(rows);
      if (keys.insert(key).second) batch.Add(static_cast<int64_t>(key), keys.size() % 10 == 0);
    }
    const Cost cost = Write(**table, batch);
    std::printf("%s\n", Message(R"({{"apply_ms":{},"commit_ms":{},"rows_written":{},)"
                                R"("rows_deleted":{},"bytes_written":{}}})",
                                cost.apply_ms, cost.commit_ms, cost.result.rows_written,
                                cost.result.rows_deleted, cost.result.bytes_written)
                            .c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Main(argc, argv);
}
