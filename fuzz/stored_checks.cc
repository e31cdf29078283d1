#include "fuzz/stored_checks.h"

#include <cstdlib>
#include <string>

#include "commit/properties.h"
#include "model/row_chunk.h"
#include "state/key_extra.h"

namespace lastword {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

constexpr const char* kEmptyState =
    R"({"epoch":0,"highest_hi":0,"tombstones":0,"counts":[0,0,0,0,0,0,0],"inputs":[]})";

void CheckProperties(std::string_view state, std::string_view positions) {
  const Properties properties = {{"lastword.format", "1"},
                                 {"lastword.writer_epoch", "1"},
                                 {"lastword.ledger", "1"},
                                 {"lastword.state", std::string(state)},
                                 {"lastword.positions", std::string(positions)}};
  const auto decoded = DecodeProperties(properties);
  if (!decoded.ok()) return;
  Require(decoded->has_value());
  const Properties encoded = EncodeProperties(**decoded);
  const auto again = DecodeProperties(encoded);
  Require(again.ok() && again->has_value());
  Require(EncodeProperties(**again) == encoded);
}

void CheckExtra(std::string_view bytes) {
  const auto extra = ExtraFromBytes(bytes);
  if (!extra.ok()) return;
  const std::string encoded = ExtraToBytes(*extra);
  const auto again = ExtraFromBytes(encoded);
  Require(again.ok());
  Require(ExtraToBytes(*again) == encoded);
}

void CheckRow(std::string_view bytes) {
  const auto chunk = RowFromBytes(bytes);
  if (!chunk.ok() || chunk->schema->columns.empty()) return;
  Require(chunk->rows.size() == 1);
  const std::string encoded = RowToBytes(*chunk->schema, chunk->rows, 0);
  Require(RowFromBytes(encoded).ok());
}

}  // namespace

void CheckStored(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string_view rest = bytes.substr(1);
  switch (bytes[0]) {
    case 's':
      CheckProperties(rest, "{}");
      break;
    case 'p':
      CheckProperties(kEmptyState, rest);
      break;
    case 'x':
      CheckExtra(rest);
      break;
    case 'r':
      CheckRow(rest);
      break;
    default:
      break;
  }
}

}  // namespace lastword
