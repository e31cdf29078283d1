#include "test/double/memory_versions.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "model/row_chunk.h"

namespace lastword {
namespace {

const std::set<uint32_t>& DeletedOf(const MemoryFragment& fragment) {
  static const std::set<uint32_t> kNothing;
  return fragment.deleted ? *fragment.deleted : kNothing;
}

template <typename Version>
auto FindFragment(Version& version, uint64_t id) -> decltype(version.fragments.data()) {
  for (auto& fragment : version.fragments) {
    if (fragment.id == id) return &fragment;
  }
  return nullptr;
}

std::vector<uint32_t> AllColumns(const Schema& schema) {
  std::vector<uint32_t> columns(schema.columns.size());
  for (uint32_t i = 0; i < columns.size(); ++i) columns[i] = i;
  return columns;
}

void AddFragment(Rows rows, MemoryVersion& version, std::vector<Fragment>& new_fragments) {
  if (rows.size() == 0) return;
  MemoryFragment fragment{.id = version.next_fragment++,
                          .rows = std::make_shared<const Rows>(std::move(rows))};
  new_fragments.push_back(FragmentOf(fragment));
  version.fragments.push_back(std::move(fragment));
}

Status Delete(std::span<const RowAddress> deleted, MemoryVersion& version) {
  std::map<uint64_t, std::set<uint32_t>> by_fragment;
  for (const RowAddress address : deleted) {
    LW_CHECK(by_fragment[address >> 32].insert(static_cast<uint32_t>(address)).second,
             Message("row {} is deleted twice", address));
  }
  for (auto& [id, offsets] : by_fragment) {
    MemoryFragment* fragment = FindFragment(version, id);
    LW_CHECK(fragment != nullptr, Message("there is no fragment {}", id));
    std::set<uint32_t> all = DeletedOf(*fragment);
    for (const uint32_t offset : offsets) {
      LW_CHECK(offset < fragment->rows->size() && all.insert(offset).second,
               Message("row {} of fragment {} is not live", offset, id));
    }
    fragment->deleted = std::make_shared<const std::set<uint32_t>>(std::move(all));
  }
  std::erase_if(version.fragments, [](const MemoryFragment& fragment) {
    return DeletedOf(fragment).size() == fragment.rows->size();
  });
  return Ok{};
}

}  // namespace

Fragment FragmentOf(const MemoryFragment& fragment) {
  const uint64_t bytes = fragment.rows->bytes_held();
  return {fragment.id, fragment.rows->size(), DeletedOf(fragment).size(), bytes};
}

std::vector<Fragment> FragmentsOf(const MemoryVersion& version) {
  std::vector<Fragment> fragments;
  for (const MemoryFragment& memory : version.fragments) {
    Fragment& fragment = fragments.emplace_back(FragmentOf(memory));
    uint64_t bit = 1;
    for (const auto& [name, covered] : version.indexed) {
      if (covered.contains(fragment.id)) fragment.index_set |= bit;
      bit <<= 1;
    }
  }
  return fragments;
}

std::vector<Index> IndexesOf(const MemoryVersion& version) {
  std::vector<Index> indexes = version.indexes;
  for (Index& index : indexes) {
    for (const MemoryFragment& memory : version.fragments) {
      if (version.indexed.at(index.name).contains(memory.id)) continue;
      index.unindexed_rows += FragmentOf(memory).live_rows();
    }
  }
  return indexes;
}

void AppendStoredRow(const MemoryFragment& fragment, uint64_t row,
                     const std::vector<uint32_t>& columns, Rows& out) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < fragment.rows->columns.size()) {
      out.columns[i].AppendFrom(fragment.rows->columns[columns[i]], row);
    } else {
      out.columns[i].AppendNull();
    }
  }
}

Status ApplyCommit(const Rows* new_rows, std::span<const RowAddress> deleted, uint64_t rows_max,
                   MemoryVersion& version, std::vector<Fragment>& new_fragments) {
  LW_RETURN_IF_ERROR(Delete(deleted, version));
  if (new_rows == nullptr || new_rows->size() == 0) return Ok{};
  LW_CHECK(new_rows->columns.size() == version.schema.columns.size(),
           "rows to commit have the columns of the table");
  for (size_t i = 0; i < new_rows->columns.size(); ++i) {
    const Column& column = version.schema.columns[i];
    LW_CHECK(new_rows->columns[i].type() == column.type, "rows have the types of the table");
    LW_CHECK(column.nullable || new_rows->columns[i].null_count() == 0,
             Message("column {} takes no NULL", column.name));
  }
  for (uint64_t begin = 0; begin < new_rows->size(); begin += rows_max) {
    Rows part(version.schema);
    const uint64_t end = std::min(begin + rows_max, new_rows->size());
    for (uint64_t row = begin; row < end; ++row) part.AppendFrom(*new_rows, row);
    AddFragment(std::move(part), version, new_fragments);
  }
  return Ok{};
}

Status ApplyAddColumns(const std::vector<Column>& columns, MemoryVersion& version) {
  for (const Column& column : columns) {
    LW_CHECK(column.nullable, Message("column {} is not nullable", column.name));
    LW_CHECK(!version.schema.Find(column.name), Message("column {} exists", column.name));
    version.schema.columns.push_back(
        Column{.name = column.name, .type = column.type, .nullable = true});
  }
  return Ok{};
}

Status ApplyWiden(const std::string& name, const Type& type, MemoryVersion& version) {
  const std::optional<uint32_t> at = version.schema.Find(name);
  LW_CHECK(at.has_value(), Message("there is no column {}", name));
  version.schema.columns[*at].type = type;
  std::erase_if(version.indexes, [&](const Index& index) { return index.column == name; });
  std::erase_if(version.indexed, [&](const auto& index) { return index.first == name + "_idx"; });
  for (MemoryFragment& fragment : version.fragments) {
    if (*at >= fragment.rows->columns.size()) continue;
    Rows widened;
    for (uint32_t i = 0; i < fragment.rows->columns.size(); ++i) {
      const ColumnData& from = fragment.rows->columns[i];
      ColumnData& to = widened.columns.emplace_back(i == *at ? type : from.type());
      for (uint64_t row = 0; row < from.size(); ++row) {
        if (i == *at) {
          AppendWidened(from, row, to);
        } else {
          to.AppendFrom(from, row);
        }
      }
    }
    fragment.rows = std::make_shared<const Rows>(std::move(widened));
  }
  return Ok{};
}

Status ApplyCompaction(const MemoryVersion& read, const std::vector<uint64_t>& ids,
                       uint64_t target_rows, MemoryVersion& version,
                       std::vector<Fragment>& new_fragments) {
  LW_CHECK(!ids.empty(), "no fragment to compact");
  const std::vector<uint32_t> columns = AllColumns(version.schema);
  Rows live(version.schema);
  std::vector<bool> deleted_since;  // of each row of `live`
  for (const uint64_t id : ids) {
    const MemoryFragment* fragment = FindFragment(read, id);
    LW_CHECK(fragment != nullptr, Message("there is no fragment {}", id));
    const MemoryFragment* now = FindFragment(version, id);
    if (now == nullptr || now->rows != fragment->rows ||
        !std::includes(DeletedOf(*now).begin(), DeletedOf(*now).end(), DeletedOf(*fragment).begin(),
                       DeletedOf(*fragment).end())) {
      return Error{ErrorKind::kCommitConflict, Message("fragment {} was changed", id)};
    }
    for (uint32_t row = 0; row < fragment->rows->size(); ++row) {
      if (DeletedOf(*fragment).contains(row)) continue;
      AppendStoredRow(*fragment, row, columns, live);
      deleted_since.push_back(DeletedOf(*now).contains(row));
    }
  }
  std::set<std::string> covering;
  for (auto& [name, covered] : version.indexed) {
    const auto of_it =
        std::count_if(ids.begin(), ids.end(), [&](uint64_t id) { return covered.contains(id); });
    LW_CHECK(of_it == 0 || static_cast<size_t>(of_it) == ids.size(),
             Message("fragments within and without the index {} cannot become one", name));
    if (of_it != 0) covering.insert(name);
    for (const uint64_t id : ids) covered.erase(id);
  }
  std::erase_if(version.fragments, [&](const MemoryFragment& fragment) {
    return std::find(ids.begin(), ids.end(), fragment.id) != ids.end();
  });
  // As Lance does: at least the target in each, the rest spread over them.
  const uint64_t count = std::max<uint64_t>(1, live.size() / std::max<uint64_t>(1, target_rows));
  uint64_t begin = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t end = begin + live.size() / count + (i < live.size() % count ? 1 : 0);
    Rows part(version.schema);
    std::vector<RowAddress> deleted;
    for (; begin < end; ++begin) {
      if (deleted_since[begin]) deleted.push_back(version.next_fragment << 32 | part.size());
      part.AppendFrom(live, begin);
    }
    if (part.size() != 0 && part.size() == deleted.size()) {
      return Error{ErrorKind::kCommitConflict, "nothing is left of a new fragment"};
    }
    AddFragment(std::move(part), version, new_fragments);
    LW_RETURN_IF_ERROR(Delete(deleted, version));
    if (!deleted.empty()) new_fragments.back() = FragmentOf(version.fragments.back());
  }
  for (const std::string& name : covering) {
    for (const Fragment& fragment : new_fragments) version.indexed[name].insert(fragment.id);
  }
  return Ok{};
}

}  // namespace lastword
