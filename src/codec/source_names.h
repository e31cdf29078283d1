// The names under `source:` of a table, and whether the key tells rows of one from rows of another:
// the rule of docs/ordering.md, "Several sources in one table".
#pragma once

#include <string>
#include <vector>

#include "lastword/schema.h"

namespace lastword::codec {

/// True where no two of `sources` share the values of the schema's origin columns
/// (model/origin.h). `with_schemas`: the source puts its tables into schemas, so the first part of
/// "a.b" is one; else it is a database.
bool ToldApart(const std::vector<std::string>& sources, const Schema& schema, bool with_schemas);

}  // namespace lastword::codec
