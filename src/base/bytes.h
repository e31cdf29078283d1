// Little-endian bytes: a writer that appends and a reader that cannot run off the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace lastword {

/// Appends integers and length-prefixed bytes to a string.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : x_out(out) {}
  template <typename T>
  void Put(T value) {
    x_out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void PutBytes(std::string_view bytes) {
    Put(static_cast<uint32_t>(bytes.size()));
    x_out.append(bytes);
  }
  void PutRaw(std::string_view bytes) { x_out.append(bytes); }

 private:
  std::string& x_out;
};

/// Reads what ByteWriter wrote. After a read beyond the end `ok()` is false for good and reads give
/// zeros.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : x_bytes(bytes) {}
  template <typename T>
  T Get() {
    T value{};
    const std::string_view raw = GetRaw(sizeof value);
    if (x_ok) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view GetBytes() { return GetRaw(Get<uint32_t>()); }
  std::string_view GetRaw(uint64_t size) {
    if (!x_ok || x_bytes.size() < size) {
      x_ok = false;
      return {};
    }
    const std::string_view raw = x_bytes.substr(0, size);
    x_bytes.remove_prefix(size);
    return raw;
  }
  bool ok() const { return x_ok; }
  bool at_end() const { return x_bytes.empty(); }
  uint64_t left() const { return x_bytes.size(); }

 private:
  std::string_view x_bytes;
  bool x_ok = true;
};

}  // namespace lastword
