// A vector whose elements never move: references stay good while it grows. Grows by blocks, clears
// without freeing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace lastword {

template <typename T>
class StableVector {
 public:
  T& Add() {
    if (x_size == x_blocks.size() * kBlock) x_blocks.push_back(std::make_unique<T[]>(kBlock));
    T& element = (*this)[x_size++];
    element = T{};
    return element;
  }
  T& operator[](uint64_t i) { return x_blocks[i / kBlock][i % kBlock]; }
  const T& operator[](uint64_t i) const { return x_blocks[i / kBlock][i % kBlock]; }
  uint64_t size() const { return x_size; }
  uint64_t bytes_held() const { return x_blocks.size() * kBlock * sizeof(T); }
  void Clear() { x_size = 0; }

 private:
  static constexpr uint64_t kBlock = 64;
  std::vector<std::unique_ptr<T[]>> x_blocks;
  uint64_t x_size = 0;
};

}  // namespace lastword
