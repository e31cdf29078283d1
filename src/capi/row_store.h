// Encoded rows of an open batch, one for each key, overwritten in place where the next one fits: a
// key that changes often costs one copy a change and no memory. Knows nothing of what a row says.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace lastword::capi {

/// Where a row lies in its store; without bytes where there is none.
struct StoredRow {
  char* begin = nullptr;
  uint32_t size = 0;
  uint32_t room = 0;

  bool empty() const { return begin == nullptr; }
  std::string_view bytes() const { return {begin, size}; }
};

class RowStore {
 public:
  RowStore() = default;
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  /// Copies `bytes` (not empty, below 2 GiB) to where `row` lies if there is room, else to a new
  /// place, and gives the old one back.
  void Put(std::string_view bytes, StoredRow& row);
  /// Gives the place of `row` back, which is empty afterwards.
  void Drop(StoredRow& row);
  /// Forgets all rows. The memory of as many stays for the next ones.
  void Clear();

  /// Of the rows and of places that were given back.
  uint64_t bytes_used() const { return x_bytes_used; }

 private:
  static constexpr size_t kClasses = 256;
  struct Size {
    uint32_t room;
    uint32_t size_class;
  };

  static Size SizeOf(uint32_t bytes);
  char* NewPlace(uint32_t room);

  struct LargeDeleter {
    void operator()(char* chunk) const;
  };

  std::vector<std::unique_ptr<char[], LargeDeleter>> x_chunks;
  size_t x_chunks_used = 0;
  size_t x_left = 0;  // of the last chunk that is used
  std::vector<std::unique_ptr<char[]>> x_large;
  std::array<std::vector<char*>, kClasses> x_free;  // places given back, by size class
  uint64_t x_bytes_used = 0;
};

}  // namespace lastword::capi
