// Bytes that only grow at the end, a value at a time. Exists because appending eight bytes to a
// std::string is a call and a copy through another; here it is a comparison and a store. Never
// clears memory that it hands out, never shrinks its capacity.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace lastword {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ~ByteBuffer() { ::operator delete(x_data); }
  ByteBuffer(ByteBuffer&& other) noexcept { Swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    Swap(other);
    return *this;
  }

  /// Makes the buffer `size` bytes longer; the caller fills them. Valid until the next call.
  char* Extend(uint64_t size) {
    if (size > x_capacity - x_size) Grow(size);
    char* const at = x_data + x_size;
    x_size += size;
    return at;
  }
  /// Makes room for `size` bytes in all.
  void Reserve(uint64_t size) {
    if (size > x_capacity) Grow(size - x_size);
  }
  void Append(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(Extend(bytes.size()), bytes.data(), bytes.size());
  }
  /// Drops bytes from the end until `size` are left.
  void Truncate(uint64_t size) { x_size = size; }

  const char* data() const { return x_data; }
  uint64_t size() const { return x_size; }
  uint64_t capacity() const { return x_capacity; }
  std::string_view view() const { return {x_data, x_size}; }

 private:
  void Swap(ByteBuffer& other) noexcept {
    std::swap(x_data, other.x_data);
    std::swap(x_size, other.x_size);
    std::swap(x_capacity, other.x_capacity);
  }
  void Grow(uint64_t size) {
    const uint64_t doubled = x_capacity * 2;
    const uint64_t needed = x_size + size;
    const uint64_t capacity = needed < 64 ? 64 : needed < doubled ? doubled : needed;
    char* const grown = static_cast<char*>(::operator new(capacity));
    if (x_size != 0) std::memcpy(grown, x_data, x_size);
    ::operator delete(x_data);
    x_data = grown;
    x_capacity = capacity;
  }

  char* x_data = nullptr;
  uint64_t x_size = 0, x_capacity = 0;
};

}  // namespace lastword
