#include "commit/writer_epoch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/files.h"
#include "base/format.h"

namespace lastword {
namespace {
constexpr size_t kDigits = 20;  // of the largest number
}  // namespace

Result<uint64_t> TakeWriterEpoch(const std::string& path, uint64_t at_least) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return ErrorFromErrno("open", path, errno);
  char text[kDigits] = {};
  uint64_t last = 0;
  const ssize_t size = pread(descriptor, text, sizeof text, 0);
  if (size > 0) std::from_chars(text, text + size, last);
  const uint64_t epoch = std::max(at_least, last + 1);
  const std::string padded = Message("{:020}", epoch);
  const ssize_t written = pwrite(descriptor, padded.data(), padded.size(), 0);
  const int failed = errno;
  close(descriptor);
  if (written == static_cast<ssize_t>(padded.size())) return epoch;
  return ErrorFromErrno("write", path, written < 0 ? failed : ENOSPC);
}

}  // namespace lastword
