#include "pipeline/batch_cut.h"

namespace lastword {
namespace {

uint32_t CopyRow(const Rows& from, uint32_t row, Rows& to) {
  to.AppendFrom(from, row);
  return static_cast<uint32_t>(to.size() - 1);
}

}  // namespace

ChangeBatch CutOut(const ChangeBatch& batch, size_t begin, size_t end) {
  ChangeBatch part;
  part.inputs = batch.inputs;
  for (const ColumnData& column : batch.rows.columns) {
    part.rows.columns.emplace_back(column.type());
  }
  part.heads.assign(batch.heads.begin() + static_cast<ptrdiff_t>(begin),
                    batch.heads.begin() + static_cast<ptrdiff_t>(end));
  for (ChangeHead& head : part.heads) {
    const std::string_view key = batch.KeyOf(head);
    head.key_begin = static_cast<uint32_t>(part.key_bytes.size());
    part.key_bytes += key;
    if (head.row != kNone) head.row = CopyRow(batch.rows, head.row, part.rows);
    if (head.detail == kNone) continue;
    ChangeDetail detail = batch.details[head.detail];
    if (detail.before != kNone) detail.before = CopyRow(batch.rows, detail.before, part.rows);
    head.detail = static_cast<uint32_t>(part.details.size());
    part.details.push_back(std::move(detail));
  }
  return part;
}

}  // namespace lastword
