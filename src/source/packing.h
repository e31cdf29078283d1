// Bytes in less room: one zstd frame for bytes that travel or wait as a whole. Fast rather than
// small: they are read once, soon, and then forgotten. Knows nothing of what the bytes say; streams
// of compressed input are read elsewhere (file/byte_stream.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/byte_buffer.h"
#include "lastword/status.h"

struct ZSTD_CCtx_s;

namespace lastword {

/// Packs one thing behind the other; its tables stay for the next one. Not thread-safe.
class Packer {
 public:
  /// Appends `bytes` to `out` as one zstd frame, which is not empty, also without bytes. kInternal
  /// where there is no memory.
  Status Pack(std::string_view bytes, ByteBuffer& out);

 private:
  struct Deleter {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Deleter> x_context;
};

/// Replaces what `out` holds with the `size` bytes of one frame; false where `frame` is no frame of
/// as many bytes. Takes memory for `size` bytes only where the frame can hold them.
bool Unpack(std::string_view frame, uint64_t size, ByteBuffer& out);

}  // namespace lastword
