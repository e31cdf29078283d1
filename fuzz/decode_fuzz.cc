// One fuzz target a format: LW_FUZZ_FORMAT is set by CMake. Run as
//   build/fuzz/fuzz/fuzz_records -max_total_time=60 fuzz/corpus/records
#include <cstddef>
#include <cstdint>

#include "fuzz/decode_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  lastword::codec::CheckDecoding(lastword::codec::Format::LW_FUZZ_FORMAT,
                                 {reinterpret_cast<const char*>(data), size});
  return 0;
}
