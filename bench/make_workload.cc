// Writes a stream for other programs to apply, and prints what a table must hold behind it as one
// JSON object.
//
//   make_workload NAME EVENTS KEYS FILE
//   make_workload --list
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/format.h"
#include "bench/workload.h"

namespace lastword {
namespace {

int List() {
  for (const WorkloadShape& shape : WorkloadShapes()) {
    std::printf("%s\t%s\n", std::string(shape.name).c_str(), std::string(shape.covers).c_str());
  }
  return 0;
}

int Make(const WorkloadShape& shape, uint64_t events, uint64_t keys, const char* path) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) {
    std::perror(path);
    return 1;
  }
  const WorkloadTruth truth = MakeWorkload(shape, events, keys, [&](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), file);
  });
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed) {
    std::perror(path);
    return 1;
  }
  std::string columns;
  for (const WorkloadColumn& column : ColumnsOf(shape)) {
    columns += Message(R"({}{{"name":"{}","type":"{}"}})", columns.empty() ? "" : ",", column.name,
                       column.type);
  }
  std::printf("%s\n", Message(R"({{"events":{},"bytes":{},"rows":{},"sum_id":{},"sum_qty":{},)"
                              R"("sum_id_qty":{},"columns":[{}]}})",
                              truth.events, truth.bytes, truth.rows, truth.sum_id, truth.sum_qty,
                              truth.sum_id_qty, columns)
                          .c_str());
  return 0;
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--list") return List();
  const WorkloadShape* shape = argc == 5 ? FindWorkload(argv[1]) : nullptr;
  if (shape == nullptr) {
    std::fprintf(stderr, "usage: make_workload NAME EVENTS KEYS FILE | --list\n");
    return 2;
  }
  return Make(*shape, std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10),
              argv[4]);
}

}  // namespace
}  // namespace lastword

int main(int argc, char** argv) {
  return lastword::Main(argc, argv);
}
