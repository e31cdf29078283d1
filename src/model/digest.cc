#include "model/digest.h"

#include <algorithm>

#include "base/hash.h"
#include "base/short_copy.h"
#include "model/canonical.h"
#include "model/column_origin.h"

namespace lastword {
namespace {

constexpr char kUnavailable = 'U';

bool Contains(const std::vector<uint32_t>& ascending, uint32_t column) {
  return !ascending.empty() && std::binary_search(ascending.begin(), ascending.end(), column);
}

void AppendName(const std::string& name, ByteBuffer& out) {
  CopyShort(out.Extend(name.size()), name.data(), name.size());
}

}  // namespace

Digester::Digester(const Schema& schema) {
  // The change as sent: under the names of the image, whatever the table calls its columns.
  auto image_name = [&schema](uint32_t column) -> const std::string& {
    const Column& declared = schema.columns[column];
    return declared.from.empty() ? declared.name : declared.from;
  };
  for (uint32_t i = 0; i < schema.columns.size(); ++i) {
    // Metadata of the record differs between redeliveries of one change.
    if (!IsRecordMetadata(schema.columns[i].from)) x_order.push_back(i);
  }
  std::sort(x_order.begin(), x_order.end(),
            [&image_name](uint32_t a, uint32_t b) { return image_name(a) < image_name(b); });
  for (const uint32_t column : x_order) {
    const std::string& name = image_name(column);
    std::string& prefixed = x_names.emplace_back();
    AppendUint32(static_cast<uint32_t>(name.size()), prefixed);
    prefixed += name;
  }
}

uint64_t Digester::Digest(const Rows& rows, uint64_t row, const std::vector<uint32_t>& absent,
                          const std::vector<uint32_t>& unavailable) {
  x_scratch.Truncate(0);
  for (size_t i = 0; i < x_order.size(); ++i) {
    const uint32_t column = x_order[i];
    if (Contains(unavailable, column)) {
      AppendName(x_names[i], x_scratch);
      *x_scratch.Extend(1) = kUnavailable;
    } else if (!rows.columns[column].IsNull(row) && !Contains(absent, column)) {
      AppendName(x_names[i], x_scratch);
      AppendCanonicalPart(rows.columns[column], row, x_scratch);
    }
  }
  return Hash64(x_scratch.view());
}

}  // namespace lastword
