// Bytes in less room: one zstd frame for bytes that travel or wait as a whole. Fast rather than
// small: they are read once, soon, and then forgotten. Knows nothing of what the bytes say; streams
// of compressed input are read elsewhere (file/byte_stream.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/byte_buffer.h"
#include "lastword/status.h"

namespace lastword {

/// `bytes` as one zstd frame. Not empty, also without bytes. kInternal where there is no memory.
Result<std::string> Pack(std::string_view bytes);

/// The `size` bytes of one frame; none where `frame` is no frame of as many bytes. Takes memory for
/// `size` bytes only where the frame can hold them.
std::optional<ByteBuffer> Unpack(std::string_view frame, uint64_t size);

}  // namespace lastword
