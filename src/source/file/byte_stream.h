// Bytes of one file or of stdin, decompressed on the way. What a file holds is told by its first
// bytes, never by its name: gzip and zstd as they are written by their tools, one member after the
// other, and plain bytes otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "lastword/status.h"

namespace lastword::file {

/// Reads forward only. Errors carry the input and the decompressed offset; once one was returned,
/// every further call returns it again.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Reads at most `size` bytes, at least one; 0 = end. kSourceUnavailable: the read failed, or an
  /// archive is damaged or ends in the middle.
  virtual Result<size_t> Read(char* to, size_t size) = 0;
  /// Bytes taken from storage so far, before decompression.
  virtual uint64_t bytes_stored() const = 0;
};

/// Opens `path`; "-" is standard input. kSourceUnavailable: it is not there or cannot be read;
/// kUsage: it is a folder.
Result<std::unique_ptr<ByteStream>> OpenByteStream(const std::string& path);

}  // namespace lastword::file
