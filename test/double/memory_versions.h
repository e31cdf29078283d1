// What each change makes of a version in memory: pure functions over MemoryVersion.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "test/double/memory_dataset.h"

namespace lastword {

/// Deletes and adds rows; the added fragments are appended to `new_fragments`.
Status ApplyCommit(const Rows* new_rows, std::span<const RowAddress> deleted, uint64_t rows_max,
                   MemoryVersion& version, std::vector<Fragment>& new_fragments);
Status ApplyAddColumns(const std::vector<Column>& columns, MemoryVersion& version);
Status ApplyWiden(const std::string& name, const Type& type, MemoryVersion& version);
/// Rewrites what was live in `read`, and deletes of it what `version` has deleted since.
Status ApplyCompaction(const MemoryVersion& read, const std::vector<uint64_t>& ids,
                       uint64_t target_rows, MemoryVersion& version,
                       std::vector<Fragment>& new_fragments);

Fragment FragmentOf(const MemoryFragment& fragment);
/// The fragments of a version, with the indexes that cover each.
std::vector<Fragment> FragmentsOf(const MemoryVersion& version);
/// Its indexes, with the rows that each does not cover.
std::vector<Index> IndexesOf(const MemoryVersion& version);
/// Appends one stored row, its missing columns NULL, the columns `columns` only.
void AppendStoredRow(const MemoryFragment& fragment, uint64_t row,
                     const std::vector<uint32_t>& columns, Rows& out);

}  // namespace lastword
