#include "bench/workload.h"

#include <cmath>
#include <unordered_map>

#include "base/format.h"
#include "base/random.h"

namespace lastword {
namespace {

constexpr size_t kResentBehind = 1000;  // a late line comes again about so many events later

class Stream {
 public:
  Stream(const WorkloadShape& shape, uint64_t keys,
         const std::function<void(std::string_view)>& sink)
      : x_shape(shape), x_keys(keys), x_sink(sink), x_next_new(static_cast<int64_t>(keys)) {
    x_recent.resize(shape.late > 0 ? kResentBehind : 0);
  }

  WorkloadTruth Run(uint64_t events) {
    while (x_truth.events < events) Next();
    for (const auto& [id, qty] : x_rows) {
      x_truth.sum_id += id;
      x_truth.sum_qty += qty;
      x_truth.sum_id_qty += id * qty;
    }
    x_truth.rows = x_rows.size();
    return x_truth;
  }

 private:
  void Next() {
    x_lsn += 10 + x_random.Below(200);
    if (!x_recent.empty() && Percent(x_shape.late)) {
      const std::string& again = x_recent[x_random.Below(x_recent.size())];
      if (!again.empty()) return Send(again);
    }
    const int64_t key = x_shape.updates ? Key() : static_cast<int64_t>(x_truth.events);
    if (x_rows.count(key) == 0) return Upsert(key, "c");
    if (Percent(x_shape.deletes)) return Delete(key);
    if (!Percent(x_shape.key_changes)) return Upsert(key, "u");
    // Debezium's form of a key change: a delete and a create at one position.
    Delete(key);
    Upsert(x_next_new++, "c");
  }

  int64_t Key() {
    const double uniform = static_cast<double>(x_random.Below(1ull << 52)) / (1ull << 52);
    if (!x_shape.skewed) return static_cast<int64_t>(static_cast<double>(x_keys) * uniform);
    return static_cast<int64_t>(std::pow(static_cast<double>(x_keys), uniform)) - 1;
  }
  bool Percent(uint32_t percent) { return percent > 0 && x_random.Below(100) < percent; }

  void Upsert(int64_t key, const char* op) {
    const auto qty = static_cast<int64_t>(x_random.Below(1000));
    x_row.clear();
    x_row += Message(R"({{"id":{},"customer":{},"status":"paid","amount":"{}.{:02}","note":")", key,
                     x_random.Below(1000000), x_random.Below(10000), x_random.Below(100));
    if (x_shape.note_bytes_max == 0) {
      x_row += Message("some text that is a bit longer {}", x_truth.events);
    } else {
      x_row.append(1 + x_random.Below(x_shape.note_bytes_max), 'x');
    }
    x_row += Message(R"(","qty":{})", qty);
    for (uint32_t i = 0; i < x_shape.wide_columns; ++i) {
      const uint64_t value = x_random.Below(100000);
      x_row += i % 2 == 0 ? Message(R"(,"c{}":{})", i, value)
                          : Message(R"(,"c{}":"value {}")", i, value);
    }
    x_row += '}';
    x_rows[key] = qty;
    Envelope("null", x_row, op);
  }

  void Delete(int64_t key) {
    x_row.clear();
    x_row += Message(
        R"({{"id":{},"customer":null,"status":null,"amount":null,"note":null,"qty":null)", key);
    for (uint32_t i = 0; i < x_shape.wide_columns; ++i) {
      x_row += Message(R"(,"c{}":null)", i);
    }
    x_row += '}';
    x_rows.erase(key);
    Envelope(x_row, "null", "d");
  }

  void Envelope(std::string_view before, std::string_view after, const char* op) {
    const uint64_t now = 1760000000000 + x_truth.events;
    x_line = Message(
        R"({{"before":{},"after":{},"source":{{"version":"3.6.1.Final","connector":"postgresql",)"
        R"("name":"srv","ts_ms":{},"snapshot":"false","db":"app","sequence":"[\"{}\",\"{}\"]",)"
        R"("schema":"public","table":"orders","txId":{},"lsn":{},"xmin":null}},)"
        R"("transaction":null,"op":"{}","ts_ms":{}}})"
        "\n",
        before, after, now, x_lsn - 5, x_lsn, x_truth.events, x_lsn, op, now + 40);
    if (!x_recent.empty()) x_recent[x_truth.events % x_recent.size()] = x_line;
    Send(x_line);
  }

  void Send(std::string_view line) {
    x_sink(line);
    ++x_truth.events;
    x_truth.bytes += line.size();
  }

  const WorkloadShape& x_shape;
  const uint64_t x_keys;
  const std::function<void(std::string_view)>& x_sink;
  Random x_random{1};
  std::unordered_map<int64_t, int64_t> x_rows;  // id -> qty
  std::vector<std::string> x_recent;            // lines that may be sent again
  std::string x_row, x_line;
  WorkloadTruth x_truth;
  uint64_t x_lsn = 1000;
  int64_t x_next_new;
};

}  // namespace

const std::vector<WorkloadShape>& WorkloadShapes() {
  static const std::vector<WorkloadShape> shapes = {
      {.name = "mixed", .covers = "skewed updates, 15 % deletes", .deletes = 15},
      {.name = "inserts", .covers = "every event a new key", .updates = false},
      {.name = "uniform", .covers = "updates, uniform keys", .skewed = false},
      {.name = "skewed", .covers = "updates, Zipf keys"},
      {.name = "keys", .covers = "5 % key changes", .deletes = 5, .key_changes = 5},
      {.name = "wide", .covers = "100 further columns", .deletes = 15, .wide_columns = 100},
      {.name = "large", .covers = "notes up to 40 kB", .deletes = 15, .note_bytes_max = 40000},
      {.name = "late", .covers = "5 % stale and repeated", .deletes = 15, .late = 5},
  };
  return shapes;
}

const WorkloadShape* FindWorkload(std::string_view name) {
  for (const WorkloadShape& shape : WorkloadShapes()) {
    if (shape.name == name) return &shape;
  }
  return nullptr;
}

std::vector<WorkloadColumn> ColumnsOf(const WorkloadShape& shape) {
  std::vector<WorkloadColumn> columns = {{"id", "int64"},      {"customer", "int64"},
                                         {"status", "string"}, {"amount", "decimal(12,2)"},
                                         {"note", "string"},   {"qty", "int64"}};
  for (uint32_t i = 0; i < shape.wide_columns; ++i) {
    columns.push_back({Message("c{}", i), i % 2 == 0 ? "int64" : "string"});
  }
  return columns;
}

WorkloadTruth MakeWorkload(const WorkloadShape& shape, uint64_t events, uint64_t keys,
                           const std::function<void(std::string_view line)>& sink) {
  return Stream(shape, keys, sink).Run(events);
}

}  // namespace lastword
