// The fuzz target of everything that we read back from storage: build/fuzz/fuzz/fuzz_stored
// -max_total_time=60 fuzz/corpus/stored
#include <cstddef>
#include <cstdint>

#include "fuzz/stored_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lastword::CheckStored({reinterpret_cast<const char*>(data), size});
  return 0;
}
