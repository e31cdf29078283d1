#include "source/packing.h"

#include <zstd.h>

#include "base/check.h"

namespace lastword {
namespace {

constexpr int kLevel = 1;
// A block of a frame takes four bytes at least and gives 128 KiB at most.
constexpr uint64_t kGrowthMax = (128 << 10) / 4;

}  // namespace

void Packer::Deleter::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

Status Packer::Pack(std::string_view bytes, ByteBuffer& out) {
  if (x_context == nullptr) x_context.reset(ZSTD_createCCtx());
  LW_CHECK(x_context != nullptr, "there is memory for a packer");
  const uint64_t before = out.size();
  const size_t room = ZSTD_compressBound(bytes.size());
  char* const to = out.Extend(room);
  const size_t size =
      ZSTD_compressCCtx(x_context.get(), to, room, bytes.data(), bytes.size(), kLevel);
  LW_CHECK(!ZSTD_isError(size), "there is memory for a frame");
  out.Truncate(before + size);
  return Ok{};
}

bool Unpack(std::string_view frame, uint64_t size, ByteBuffer& out) {
  if (size / kGrowthMax > frame.size()) return false;
  out.Truncate(0);
  char* const to = out.Extend(size);
  const size_t made = ZSTD_decompress(to, size, frame.data(), frame.size());
  return !ZSTD_isError(made) && made == size;
}

}  // namespace lastword
