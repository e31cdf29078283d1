// Two floors below any engine, over a file that lies in memory, one thread: parsing alone, and
// parsing plus a hash map that keeps the last row of each key by its position in the log. Prints
// seconds as one JSON object.
//
//   floors FILE
#include <chrono>
#include <cstdio>
#include <functional>
#include <unordered_map>

#include "base/format.h"
#include "bench/parse_only.h"

namespace lastword {
namespace {

struct LastRow {
  uint64_t lsn = 0;
  bool live = false;
  std::string row;
};

uint64_t KeepLastRows(std::string_view padded, size_t size) {
  std::unordered_map<int64_t, LastRow> rows;
  ParseEnvelopes(padded, size, [&](const ParsedEnvelope& envelope) {
    LastRow& last = rows[envelope.id];
    if (envelope.lsn < last.lsn) return;
    last.lsn = envelope.lsn;
    last.live = !envelope.after.empty();
    last.row.assign(envelope.after);
  });
  uint64_t live = 0;
  for (const auto& [id, last] : rows) live += last.live;
  return live;
}

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int Main(int argc, char** argv) {
  std::string bytes;
  if (argc != 2 || !ReadPadded(argv[1], bytes)) {
    std::fprintf(stderr, "usage: floors FILE\n");
    return 2;
  }
  const size_t size = bytes.size() - kParsePadding;
  uint64_t sum = 0, rows = 0;
  const double parse = SecondsOf([&] { sum = ParseOnly(bytes, size); });
  const double map = SecondsOf([&] { rows = KeepLastRows(bytes, size); });
  std::printf("%s\n", Message(R"({{"parse_only":{},"last_row_map":{},"rows":{},"sum":{}}})", parse,
                              map, rows, sum)
                          .c_str());
  return 0;
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Main(argc, argv);
}
