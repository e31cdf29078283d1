// A deleted row still needs a version: versions 1, 3, 2 of one key arrive, and the row stays
// deleted. Run it twice on the same folder: the second process remembers what the first one
// deleted.
#include <cstdio>

#include "lastword/table.h"

using namespace lastword;  // NOLINT(build/namespaces): ten lines that show the library

int main(int argc, char** argv) {
  TableOptions options;
  options.schema.columns = {{"key", {TypeKind::kString}}, {"value", {TypeKind::kInt64}}};
  options.schema.key = {0};
  auto table = Table::Open(argc > 1 ? argv[1] : "merchants.lance", options);
  if (!table) return std::puts(ToString(table.error()).c_str()), 1;

  const Change changes[] = {{Kind::kUpsert, {.hi = 1}, {{"key", "merchant-7"}, {"value", 10}}},
                            {Kind::kDelete, {.hi = 3}, {{"key", "merchant-7"}}},
                            {Kind::kUpsert, {.hi = 2}, {{"key", "merchant-7"}, {"value", 20}}}};
  auto outcomes = table->Apply(changes);
  auto committed = table->Commit();
  if (!outcomes || !committed) return std::puts("not applied"), 1;
  for (const Outcome outcome : *outcomes) std::printf("%s\n", NameOf(outcome).data());
  std::printf("rows: %llu\n", static_cast<unsigned long long>(table->count_rows()));
}
