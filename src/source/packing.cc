#include "source/packing.h"

#include <zstd.h>

#include "base/check.h"

namespace lastword {
namespace {

constexpr int kLevel = 1;
// A block of a frame takes four bytes at least and gives 128 KiB at most.
constexpr uint64_t kGrowthMax = (128 << 10) / 4;

}  // namespace

Result<std::string> Pack(std::string_view bytes) {
  ByteBuffer packed;
  const size_t room = ZSTD_compressBound(bytes.size());
  const size_t size = ZSTD_compress(packed.Extend(room), room, bytes.data(), bytes.size(), kLevel);
  LW_CHECK(!ZSTD_isError(size), "there is memory for a frame");
  return std::string(packed.data(), size);
}

std::optional<ByteBuffer> Unpack(std::string_view frame, uint64_t size) {
  if (size / kGrowthMax > frame.size()) return std::nullopt;
  std::optional<ByteBuffer> bytes(std::in_place);
  char* const to = bytes->Extend(size);
  const size_t made = ZSTD_decompress(to, size, frame.data(), frame.size());
  if (ZSTD_isError(made) || made != size) return std::nullopt;
  return bytes;
}

}  // namespace lastword
