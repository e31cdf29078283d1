#include "codec/source_names.h"

#include "model/origin.h"

namespace lastword::codec {
namespace {

/// A name under `source:`, in parts.
struct SourceName {
  std::string topic;          // more than one dot
  std::string folder, table;  // "folder.table", or a table of any folder
};

SourceName NameOf(const std::string& source) {
  const size_t dot = source.find('.');
  if (dot == std::string::npos) return {{}, {}, source};
  if (source.find('.', dot + 1) != std::string::npos) return {source, {}, {}};
  return {{}, source.substr(0, dot), source.substr(dot + 1)};
}

/// What of a record's origin the key holds.
struct Held {
  bool folder = false, table = false, topic = false;
};

bool Differ(const SourceName& a, const SourceName& b, const Held& held) {
  if (!a.topic.empty() || !b.topic.empty()) {
    return held.topic && !a.topic.empty() && !b.topic.empty() && a.topic != b.topic;
  }
  if (held.table && a.table != b.table) return true;
  if (!held.folder || a.folder == b.folder) return false;
  // "orders" takes what "public.orders" does not: tables of that name in other folders.
  return (!a.folder.empty() && !b.folder.empty()) || a.table == b.table;
}

}  // namespace

bool ToldApart(const std::vector<std::string>& sources, const Schema& schema, bool with_schemas) {
  if (sources.size() < 2) return true;
  Held held;
  for (const std::string& name : OriginColumns(schema)) {
    const std::string& from = schema.columns[*schema.Find(name)].from;
    held.folder |= from == (with_schemas ? "source.schema" : "source.db");
    held.table |= from == "source.table";
    held.topic |= from == "topic";
  }
  std::vector<SourceName> names;
  for (const std::string& source : sources) names.push_back(NameOf(source));
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!Differ(names[i], names[j], held)) return false;
    }
  }
  return true;
}

}  // namespace lastword::codec
