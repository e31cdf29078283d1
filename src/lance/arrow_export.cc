#include "lance/arrow_export.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace lastword::lance {
namespace {

// Stands in for buffers of nothing, which the interface does not want to be null.
alignas(64) constexpr char kEmptyBuffer[64] = {};

// What an exported array owns. Values stay where the rows hold them.
struct ArrayNode {
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<char[]>> owned;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  std::shared_ptr<ExportLatch> latch;  // of the outermost array only
};

void ReleaseArray(ArrowArray* array) {
  auto* node = static_cast<ArrayNode*>(array->private_data);
  for (ArrowArray* child : node->child_pointers) {
    if (child->release != nullptr) child->release(child);
  }
  const std::shared_ptr<ExportLatch> latch = std::move(node->latch);
  delete node;
  array->release = nullptr;
  if (latch) latch->Remove();
}

template <typename T>
T* Own(ArrayNode& node, uint64_t count) {
  node.owned.push_back(std::make_unique<char[]>(std::max<uint64_t>(count * sizeof(T), 64)));
  return reinterpret_cast<T*>(node.owned.back().get());
}

// Bit i of the result is bit begin + i.
const void* BitsFrom(ArrayNode& node, const std::vector<uint8_t>& bits, uint64_t begin,
                     uint64_t count) {
  if (begin % 8 == 0) return bits.data() + begin / 8;
  auto* copy = Own<uint8_t>(node, count / 8 + 1);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t from = begin + i;
    copy[i / 8] |= static_cast<uint8_t>((bits[from / 8] >> (from % 8) & 1) << (i % 8));
  }
  return copy;
}

const int32_t* NarrowOffsets(ArrayNode& node, const std::vector<uint64_t>& offsets, uint64_t begin,
                             uint64_t count) {
  auto* narrow = Own<int32_t>(node, count + 1);
  for (uint64_t i = 0; i <= count; ++i) {
    narrow[i] = static_cast<int32_t>(offsets[begin + i] - offsets[begin]);
  }
  return narrow;
}

void Finish(std::unique_ptr<ArrayNode> node, uint64_t count, int64_t null_count, ArrowArray* out) {
  for (const void*& buffer : node->buffers) {
    const bool is_validity = &buffer == &node->buffers.front();
    if (buffer == nullptr && !is_validity) buffer = kEmptyBuffer;
  }
  for (ArrowArray& child : node->children) node->child_pointers.push_back(&child);
  *out = ArrowArray{};
  out->length = static_cast<int64_t>(count);
  out->null_count = null_count;
  out->n_buffers = static_cast<int64_t>(node->buffers.size());
  out->n_children = static_cast<int64_t>(node->child_pointers.size());
  out->buffers = node->buffers.data();
  out->children = node->child_pointers.data();
  out->release = ReleaseArray;
  out->private_data = node.release();
}

// The floats of a vector column as the child array that Arrow wants.
void ExportFloats(const char* floats, uint64_t count, ArrowArray* out) {
  auto node = std::make_unique<ArrayNode>();
  node->buffers = {nullptr, floats};
  Finish(std::move(node), count, 0, out);
}

void ExportColumn(const ColumnData& column, uint64_t begin, uint64_t count, ArrowArray* out) {
  auto node = std::make_unique<ArrayNode>();
  const void* validity = nullptr;
  if (column.null_count() != 0 && count != 0) {
    validity = BitsFrom(*node, column.valid_bits(), begin, count);
  }
  node->buffers.push_back(validity);
  const Type& type = column.type();
  switch (type.kind) {
    case TypeKind::kBool: {
      auto* bits = Own<uint8_t>(*node, count / 8 + 1);
      const char* bytes = column.raw_bytes().data() + begin;
      for (uint64_t i = 0; i < count; ++i) {
        bits[i / 8] |= static_cast<uint8_t>((bytes[i] != 0) << (i % 8));
      }
      node->buffers.push_back(bits);
      break;
    }
    case TypeKind::kString:
    case TypeKind::kJson:
    case TypeKind::kBytes:
      node->buffers.push_back(NarrowOffsets(*node, column.offsets(), begin, count));
      node->buffers.push_back(column.raw_bytes().data() + column.offsets()[begin]);
      break;
    case TypeKind::kList: {
      const std::vector<uint64_t>& offsets = column.offsets();
      node->buffers.push_back(NarrowOffsets(*node, offsets, begin, count));
      ExportColumn(column.child(), offsets[begin], offsets[begin + count] - offsets[begin],
                   &node->children.emplace_back());
      break;
    }
    case TypeKind::kVector:
      ExportFloats(column.raw_bytes().data() + begin * FixedWidth(type),
                   count * static_cast<uint64_t>(type.dimension), &node->children.emplace_back());
      break;
    default:
      node->buffers.push_back(column.raw_bytes().data() + begin * FixedWidth(type));
      break;
  }
  Finish(std::move(node), count, column.null_count() == 0 ? 0 : -1, out);
}

// The last of `offsets` within limit of offsets[begin], not beyond end.
uint64_t LastWithin(const std::vector<uint64_t>& offsets, uint64_t begin, uint64_t end,
                    uint64_t limit) {
  const auto first = offsets.begin() + static_cast<int64_t>(begin);
  const auto last = offsets.begin() + static_cast<int64_t>(end) + 1;
  const auto past = std::upper_bound(first, last, offsets[begin] + limit);
  return static_cast<uint64_t>(past - offsets.begin()) - 1;
}

// How far rows from `begin` fit 32-bit offsets in this column.
uint64_t FittingEnd(const ColumnData& column, uint64_t begin, uint64_t end, uint64_t limit) {
  if (column.offsets().empty()) return end;  // fixed width
  const std::vector<uint64_t>& offsets = column.offsets();
  end = LastWithin(offsets, begin, end, limit);
  if (column.type().kind != TypeKind::kList || end == begin) return end;
  const uint64_t fitting = FittingEnd(column.child(), offsets[begin], offsets[end], limit);
  return LastWithin(offsets, begin, end, fitting - offsets[begin]);
}

}  // namespace

void ExportLatch::Add() {
  const std::lock_guard lock(x_mutex);
  ++x_held;
}

void ExportLatch::Remove() {
  const std::lock_guard lock(x_mutex);
  if (--x_held == 0) x_released.notify_all();
}

void ExportLatch::Wait() {
  std::unique_lock lock(x_mutex);
  x_released.wait(lock, [this] { return x_held == 0; });
}

Status ExportRows(const Rows& rows, const std::shared_ptr<ExportLatch>& latch,
                  std::vector<ArrowArray>& pieces, uint64_t limit) {
  const uint64_t size = rows.size();
  for (uint64_t begin = 0; begin < size;) {
    uint64_t end = size;
    for (const ColumnData& column : rows.columns) {
      end = FittingEnd(column, begin, end, limit);
    }
    if (end == begin) {
      return Error{
          ErrorKind::kOutOfRange,
          Message("a value is larger than the {} bytes that a column of one batch may hold",
                  limit)};
    }
    auto node = std::make_unique<ArrayNode>();
    node->buffers.push_back(nullptr);
    node->children.resize(rows.columns.size());
    for (size_t i = 0; i < rows.columns.size(); ++i) {
      ExportColumn(rows.columns[i], begin, end - begin, &node->children[i]);
    }
    node->latch = latch;
    latch->Add();
    Finish(std::move(node), end - begin, 0, &pieces.emplace_back());
    begin = end;
  }
  return Ok{};
}

}  // namespace lastword::lance
