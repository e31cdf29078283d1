#include "source/file/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/format.h"

namespace lastword::file {
namespace {

constexpr size_t kStoredBufferBytes = 256 << 10;

// The stored bytes of a descriptor behind a small buffer, so that the first ones can be looked at.
class StoredBytes {
 public:
  StoredBytes(std::string path, int fd) : x_path(std::move(path)), x_fd(fd) {}
  ~StoredBytes() {
    if (x_fd > STDIN_FILENO) ::close(x_fd);
  }
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;

  const std::string& path() const { return x_path; }
  uint64_t taken() const { return x_taken; }
  const char* data() const { return x_buffer.data() + x_begin; }
  size_t size() const { return x_end - x_begin; }
  void Take(size_t size) { x_begin += size, x_taken += size; }

  // Adds bytes to the buffer; false = end.
  Result<bool> Fill() {
    if (x_begin == x_end) x_begin = x_end = 0;
    LW_ASSIGN_OR_RETURN(const size_t got,
                        ReadInto(x_buffer.data() + x_end, x_buffer.size() - x_end));
    x_end += got;
    return got != 0;
  }

  // Reads past the buffer when it is empty: plain files take no extra copy.
  Result<size_t> Read(char* to, size_t size) {
    if (this->size() != 0) {
      size = std::min(size, this->size());
      std::memcpy(to, data(), size);
      Take(size);
      return size;
    }
    LW_ASSIGN_OR_RETURN(const size_t got, ReadInto(to, size));
    x_taken += got;
    return got;
  }

 private:
  Result<size_t> ReadInto(char* to, size_t size) {
    while (true) {
      const ssize_t got = ::read(x_fd, to, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EINTR) continue;
      return Error{ErrorKind::kSourceUnavailable,
                   Message("reading failed at byte {}: {}; check the file and its storage",
                           x_taken + this->size(), std::strerror(errno)),
                   Place{.input = x_path}};
    }
  }

  std::string x_path;
  int x_fd;
  std::vector<char> x_buffer = std::vector<char>(kStoredBufferBytes);
  size_t x_begin = 0, x_end = 0;
  uint64_t x_taken = 0;
};

class PlainStream : public ByteStream {
 public:
  explicit PlainStream(std::unique_ptr<StoredBytes> stored) : x_stored(std::move(stored)) {}
  Result<size_t> Read(char* to, size_t size) override { return x_stored->Read(to, size); }
  uint64_t bytes_stored() const override { return x_stored->taken(); }

 private:
  std::unique_ptr<StoredBytes> x_stored;
};

// What gzip and zstd share: members one after the other, an end only between them, one error.
class MemberStream : public ByteStream {
 public:
  MemberStream(std::unique_ptr<StoredBytes> stored, std::string_view codec)
      : x_stored(std::move(stored)), x_codec(codec) {}

  Result<size_t> Read(char* to, size_t size) override {
    if (x_error) return *x_error;
    Result<size_t> got = Decompress(to, size);
    if (got.ok()) {
      x_out += *got;
    } else {
      x_error = got.error();
    }
    return got;
  }
  uint64_t bytes_stored() const override { return x_stored->taken(); }

 protected:
  // Decompresses from the stored bytes to `to`; sets x_inside when more of a member must follow.
  // Returns the bytes made; kSourceUnavailable for damaged data.
  virtual Result<size_t> Advance(char* to, size_t size) = 0;

  Error Damaged(std::string_view what) const {
    return Error{
        ErrorKind::kSourceUnavailable,
        Message("{} data {} at stored byte {}, decompressed byte {}; whole lines before it are "
                "applied; restore the file and run again",
                x_codec, what, x_stored->taken(), x_out),
        Place{.input = x_stored->path(), .offset = x_out}};
  }

  std::unique_ptr<StoredBytes> x_stored;
  bool x_inside = false;  // in the middle of a member

 private:
  Result<size_t> Decompress(char* to, size_t size) {
    while (true) {
      if (x_stored->size() == 0) {
        LW_ASSIGN_OR_RETURN(const bool more, x_stored->Fill());
        if (!more) {
          // A decoder may still hold output of a block it has read completely.
          LW_ASSIGN_OR_RETURN(const size_t rest, x_inside ? Advance(to, size) : size_t{0});
          if (rest != 0) return rest;
          if (x_inside) return Damaged("ends in the middle");
          return size_t{0};
        }
      }
      LW_ASSIGN_OR_RETURN(const size_t made, Advance(to, size));
      if (made != 0) return made;
    }
  }

  std::string_view x_codec;
  uint64_t x_out = 0;
  std::optional<Error> x_error;
};

class GzipStream : public MemberStream {
 public:
  explicit GzipStream(std::unique_ptr<StoredBytes> stored)
      : MemberStream(std::move(stored), "gzip") {
    x_ready = inflateInit2(&x_inflate, 15 + 16) == Z_OK;  // 15 + 16: gzip members only
  }
  ~GzipStream() override { inflateEnd(&x_inflate); }

 protected:
  Result<size_t> Advance(char* to, size_t size) override {
    if (!x_ready) return Damaged("cannot be read: out of memory");
    x_inflate.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(x_stored->data()));  // zlib never writes to it
    x_inflate.avail_in = static_cast<uInt>(x_stored->size());
    x_inflate.next_out = reinterpret_cast<Bytef*>(to);
    x_inflate.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt room = x_inflate.avail_out;
    const uInt had = x_inflate.avail_in;
    const int code = inflate(&x_inflate, Z_NO_FLUSH);
    x_stored->Take(had - x_inflate.avail_in);
    if (code == Z_STREAM_END) {
      x_inside = false;
      inflateReset(&x_inflate);
    } else if (code == Z_OK || code == Z_BUF_ERROR) {
      x_inside = true;
    } else {
      return Damaged("is damaged");
    }
    return static_cast<size_t>(room - x_inflate.avail_out);
  }

 private:
  z_stream x_inflate{};
  bool x_ready = false;
};

class ZstdStream : public MemberStream {
 public:
  explicit ZstdStream(std::unique_ptr<StoredBytes> stored)
      : MemberStream(std::move(stored), "zstd"), x_context(ZSTD_createDCtx()) {}
  ~ZstdStream() override { ZSTD_freeDCtx(x_context); }

 protected:
  Result<size_t> Advance(char* to, size_t size) override {
    if (x_context == nullptr) return Damaged("cannot be read: out of memory");
    ZSTD_inBuffer in{x_stored->data(), x_stored->size(), 0};
    ZSTD_outBuffer out{to, size, 0};
    const size_t code = ZSTD_decompressStream(x_context, &out, &in);
    x_stored->Take(in.pos);
    if (ZSTD_isError(code)) return Damaged("is damaged");
    x_inside = code != 0;  // 0: a frame is complete and flushed
    return out.pos;
  }

 private:
  ZSTD_DCtx* x_context;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> OpenByteStream(const std::string& path) {
  int fd = STDIN_FILENO;
  if (path != "-") {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      return Error{ErrorKind::kSourceUnavailable,
                   Message("cannot open the file: {}", std::strerror(errno)), Place{.input = path}};
    }
    struct stat status {};
    if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(fd);
      return Error{ErrorKind::kUsage, "the input is a folder; name its files",
                   Place{.input = path}};
    }
  }
  auto stored = std::make_unique<StoredBytes>(path, fd);
  while (stored->size() < 4) {
    LW_ASSIGN_OR_RETURN(const bool more, stored->Fill());
    if (!more) break;
  }
  const std::string_view start(stored->data(), stored->size());
  if (start.starts_with("\x1F\x8B")) {
    return std::unique_ptr<ByteStream>(std::make_unique<GzipStream>(std::move(stored)));
  }
  if (start.starts_with("\x28\xB5\x2F\xFD")) {
    return std::unique_ptr<ByteStream>(std::make_unique<ZstdStream>(std::move(stored)));
  }
  return std::unique_ptr<ByteStream>(std::make_unique<PlainStream>(std::move(stored)));
}

}  // namespace lastword::file
