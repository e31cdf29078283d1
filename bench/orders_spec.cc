#include "bench/orders_spec.h"

namespace lastword {

codec::TableSpec OrdersSpec(const WorkloadShape& shape) {
  codec::TableSpec spec;
  spec.name = "orders";
  spec.sources = {"orders"};
  for (const auto& [name, type] : ColumnsOf(shape)) {
    spec.schema.columns.push_back({name, *ParseType(type)});
  }
  spec.schema.key = {0};
  spec.schema.nullable_key = {false};
  spec.primary_key = {"id"};
  spec.decimal_encoding = codec::TableSpec::DecimalEncoding::kString;
  return spec;
}

}  // namespace lastword
