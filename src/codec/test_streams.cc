#include "codec/test_streams.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "codec/decoded_text.h"

namespace lastword::codec {

std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no file " + path.string());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<TableSpec> CaptureTables(TableSpec::DecimalEncoding encoding) {
  const std::vector<std::pair<std::string, std::string>> item = {
      {"id", "int32"},    {"name", "string"}, {"qty", "int32"},     {"price", "decimal(10,2)"},
      {"note", "string"}, {"tag", "string"},  {"quantity", "int64"}};
  std::vector<TableSpec> specs = {
      SpecOf("item", item, {"id"}),
      SpecOf("item_full", item, {"id"}),
      SpecOf("stock", {{"site", "string"}, {"item_id", "int32"}, {"qty", "int32"}},
             {"site", "item_id"}),
      SpecOf("toast_d", {{"id", "int32"}, {"n", "int32"}, {"big", "string"}}, {"id"}),
      SpecOf("toast_f", {{"id", "int32"}, {"n", "int32"}, {"big", "string"}}, {"id"}),
      SpecOf("toast_types",
             {{"id", "int32"},
              {"n", "int32"},
              {"t", "string"},
              {"b", "bytes"},
              {"j", "json"},
              {"js", "json"},
              {"ta", "list<string>"},
              {"ia", "list<int32>"}},
             {"id"}),
      SpecOf("nokey", {{"a", "int32"}, {"b", "string"}}, {"a"}),
      SpecOf("wide",
             {{"id", "int32"},
              {"c_int2", "int16"},
              {"c_int4", "int32"},
              {"c_int8", "int64"},
              {"c_num", "decimal(10,2)"},
              {"c_f4", "float32"},
              {"c_f8", "float64"},
              {"c_bool", "bool"},
              {"c_text", "string"},
              {"c_varchar", "string"},
              {"c_char", "string"},
              {"c_bytea", "bytes"},
              {"c_uuid", "uuid"},
              {"c_json", "json"},
              {"c_jsonb", "json"},
              {"c_date", "date"},
              {"c_time", "time_us"},
              {"c_timetz", "time_us"},
              {"c_ts", "timestamp_us"},
              {"c_tstz", "timestamptz_us"},
              {"c_ints", "list<int32>"},
              {"c_texts", "list<string>"},
              {"c_enum", "string"},
              {"c_inet", "string"}},
             {"id"}),
      SpecOf("exotic",
             {{"id", "int32"},
              {"c_nums", "list<decimal(20,5)>"},
              {"c_uuids", "list<uuid>"},
              {"c_point", "json"},
              {"c_num38", "decimal(38,10)"}},
             {"id"}),
      SpecOf("numspecial", {{"id", "int32"}, {"f4", "float32"}, {"f8", "float64"}}, {"id"}),
      SpecOf("inftime", {{"id", "int32"}, {"d", "date"}, {"ts", "timestamp_us"}}, {"id"}),
      SpecOf("ord", {{"id", "int32"}, {"status", "string"}, {"total", "decimal(10,2)"}}, {"id"}),
      SpecOf("ord_line", {{"ord_id", "int32"}, {"line", "int32"}, {"sku", "string"}},
             {"ord_id", "line"}),
      SpecOf("acct", {{"id", "int32"}, {"v", "int32"}, {"who", "string"}}, {"id"}),
      SpecOf("other", {{"id", "int32"}}, {"id"})};
  for (TableSpec& spec : specs) {
    spec.sources = {spec.name};
    spec.evolution = TableSpec::Evolution::kIgnore;
    spec.decimal_encoding = encoding;
  }
  return specs;
}

namespace {

using Encoding = TableSpec::DecimalEncoding;

std::vector<Stream> Read(const std::vector<std::pair<const char*, Encoding>>& names) {
  std::vector<Stream> streams;
  for (const auto& [name, encoding] : names) {
    const std::filesystem::path folder = std::filesystem::path(LW_TESTDATA) / "captures";
    streams.push_back(
        {name, FileText(folder / (std::string(name) + ".ndjson")), CaptureTables(encoding)});
  }
  return streams;
}

}  // namespace

std::vector<Stream> Captures() {
  return Read({{"basic", Encoding::kBase64},
               {"typesprecise", Encoding::kBase64},
               {"typesstring", Encoding::kString},
               {"typesdouble", Encoding::kNumber},
               {"specialnumprecise", Encoding::kBase64},
               {"specialinfadaptive", Encoding::kBase64},
               {"txn", Encoding::kBase64},
               {"hdr", Encoding::kBase64},
               {"snapjoinfirst", Encoding::kBase64}});
}

std::vector<Stream> WrappedCaptures() {
  return Read({{"basicschema", Encoding::kBase64}, {"typespreciseschema", Encoding::kBase64}});
}

std::string Mutated(std::string line, Random& random) {
  static constexpr const char* kTokens[] = {"null",
                                            "true",
                                            "0",
                                            "-1",
                                            "1.5",
                                            "\"\"",
                                            "{}",
                                            "[]",
                                            "NaN",
                                            "\"x\"",
                                            "9223372036854775808",
                                            "\"__debezium_unavailable_value\"",
                                            ",",
                                            ":",
                                            "}",
                                            "]",
                                            "\"id\":1,",
                                            "\\u0041",
                                            "\\",
                                            "\"",
                                            "\xFF"};
  const uint64_t times = 1 + random.Below(3);
  for (uint64_t i = 0; i < times && !line.empty(); ++i) {
    const size_t at = random.Below(line.size());
    switch (random.Below(5)) {
      case 0:
        line[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        line.insert(at, kTokens[random.Below(std::size(kTokens))]);
        break;
      case 2:
        line.erase(at, 1 + random.Below(8));
        break;
      case 3:
        line.insert(at, line.substr(random.Below(line.size()), random.Below(30)));
        break;
      default: {
        // A whole value, so that most results stay JSON.
        const size_t colon = line.find(':', at);
        if (colon == std::string::npos) break;
        const size_t end = line.find_first_of(",}", colon);
        if (end == std::string::npos) break;
        line.replace(colon + 1, end - colon - 1, kTokens[random.Below(12)]);
      }
    }
  }
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string WithOtherMembers(std::string line, Random& random) {
  // A member as most writers put it: from its comma to the next one.
  const auto member = [&]() -> std::pair<size_t, size_t> {
    const size_t begin = line.find(",\"", random.Below(line.size()));
    if (begin == std::string::npos) return {0, 0};
    const size_t end = line.find_first_of(",}", begin + 1);
    return {begin, end == std::string::npos ? 0 : end - begin};
  };
  const auto [begin, size] = member();
  if (size == 0) return line;
  const std::string text = line.substr(begin, size);
  const uint64_t what = random.Below(3);
  if (what != 0) line.erase(begin, size);
  if (what != 1) {
    const auto [place, unused] = member();
    line.insert(place == 0 ? begin : place, text);
  }
  return line;
}

}  // namespace lastword::codec
