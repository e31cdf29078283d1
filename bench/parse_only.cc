#include "bench/parse_only.h"

#include <simdjson.h>

#include <cstdio>
#include <cstdlib>

namespace lastword {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(kParsePadding >= simdjson::SIMDJSON_PADDING);

// Calls `read` with each line's document.
template <typename Read>
void EachLine(std::string_view padded, size_t size, const Read& read) {
  ondemand::parser parser;
  const std::string_view all = padded.substr(0, size);
  for (size_t at = 0; at < size;) {
    const size_t end = all.find('\n', at);
    auto document = parser.iterate(padded.data() + at, end - at, padded.size() - at);
    try {
      read(document);
    } catch (const simdjson::simdjson_error& error) {
      std::fprintf(stderr, "no such stream at byte %zu: %s\n", at, error.what());
      std::exit(1);
    }
    at = end + 1;
  }
}

uint64_t ReadValue(ondemand::value value) {
  switch (value.type().value()) {
    case ondemand::json_type::number: {
      int64_t integer = 0;
      if (value.get_int64().get(integer) == simdjson::SUCCESS) return integer != 0;
      return value.get_double().value() != 0;
    }
    case ondemand::json_type::string:
      return value.get_string().value().size();
    case ondemand::json_type::boolean:
      return value.get_bool().value();
    default:
      return value.raw_json_token().size();
  }
}

}  // namespace

bool ReadPadded(const char* path, std::string& bytes) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  std::fseek(file, 0, SEEK_END);
  const long size = std::ftell(file);
  std::rewind(file);
  bytes.resize(static_cast<size_t>(size) + kParsePadding);
  const bool whole =
      std::fread(bytes.data(), 1, static_cast<size_t>(size), file) == static_cast<size_t>(size);
  std::fclose(file);
  return whole;
}

uint64_t ParseOnly(std::string_view padded, size_t size) {
  uint64_t sum = 0;
  EachLine(padded, size, [&](auto& document) {
    for (auto field : document.get_object()) {
      const std::string_view name = field.unescaped_key().value();
      if (name == "after" || name == "before") {
        ondemand::value value = field.value().value();
        if (value.type() != ondemand::json_type::object) continue;
        for (auto column : value.get_object()) sum += ReadValue(column.value());
      } else if (name == "source") {
        for (auto column : field.value().get_object()) {
          const std::string_view of = column.unescaped_key().value();
          if (of == "lsn" || of == "sequence") sum += ReadValue(column.value());
        }
      }
    }
  });
  return sum;
}

void ParseEnvelopes(std::string_view padded, size_t size,
                    const std::function<void(const ParsedEnvelope&)>& take) {
  EachLine(padded, size, [&](auto& document) {
    ParsedEnvelope envelope;
    for (auto field : document.get_object()) {
      const std::string_view name = field.unescaped_key().value();
      if (name == "after" || name == "before") {
        ondemand::value value = field.value().value();
        if (value.type() != ondemand::json_type::object) continue;
        ondemand::object row = value.get_object();
        envelope.id = row["id"].get_int64();
        if (name == "after") envelope.after = row.raw_json();
      } else if (name == "source") {
        for (auto column : field.value().get_object()) {
          if (column.unescaped_key().value() == "lsn") envelope.lsn = column.value().get_uint64();
        }
      }
    }
    take(envelope);
  });
}

}  // namespace lastword
