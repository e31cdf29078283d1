#include "codec/table_plan.h"

#include "codec/source_names.h"
#include "model/origin.h"

namespace lastword::codec {
namespace {

/// Reads `from:`; false where it names a column of the image.
bool ParseFrom(std::string_view from, MetadataColumn& out) {
  constexpr std::string_view kSourcePrefix = "source.", kHeaderPrefix = "header.";
  if (from.starts_with(kSourcePrefix)) {
    out.kind = Metadata::kSource;
    out.name = from.substr(kSourcePrefix.size());
  } else if (from.starts_with(kHeaderPrefix)) {
    out.kind = Metadata::kHeader;
    out.name = from.substr(kHeaderPrefix.size());
  } else if (from == "topic") {
    out.kind = Metadata::kTopic;
  } else if (from == "partition") {
    out.kind = Metadata::kPartition;
  } else if (from == "offset") {
    out.kind = Metadata::kOffset;
  } else {
    return false;
  }
  return true;
}

}  // namespace

TablePlan::TablePlan(uint32_t table, const TableSpec& table_spec)
    : index(table),
      spec(table_spec),
      schema(spec.schema),
      digester(schema),
      image_names(schema.columns.size()),
      is_key(schema.columns.size(), 0),
      origin_columns(OriginColumns(schema)),
      told_apart_with_schemas(ToldApart(spec.sources, schema, true)),
      told_apart_without_schemas(ToldApart(spec.sources, schema, false)),
      key_names(spec.primary_key),
      filled(schema.columns.size()),
      stamps(schema.columns.size(), 0),
      plain_forms(schema.columns.size()),
      image_key(schema),
      record_key(schema) {
  for (const uint32_t column : schema.key) is_key[column] = 1;
  for (uint32_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    MetadataColumn meta{i};
    if (!column.from.empty() && ParseFrom(column.from, meta)) {
      key_from_source |= is_key[i] != 0 && meta.kind == Metadata::kSource;
      metadata.push_back(std::move(meta));
      continue;
    }
    image_names[i] = column.from.empty() ? column.name : column.from;
    x_by_name.emplace(image_names[i], i);
    ++image_columns;
  }
  for (const std::string& name : spec.sequence_columns) {
    // "offset" is the record's place unless the table has a column of that name.
    const std::optional<uint32_t> column = schema.Find(name);
    sequence.push_back(column ? *column : name == "offset" ? kOffsetColumn : kNone);
    if (column) scratch_columns.push_back(*column);
  }
  scratch_columns.insert(scratch_columns.end(), schema.key.begin(), schema.key.end());
}

}  // namespace lastword::codec
