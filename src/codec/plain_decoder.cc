#include "codec/plain_decoder.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "codec/decoded_text.h"
#include "model/civil_time.h"
#include "model/decimal.h"
#include "model/key.h"
#include "model/uuid.h"
#include "model/value_rows.h"

namespace lastword::codec {
namespace {

constexpr const char* kPlaceholder = "__debezium_unavailable_value";

/// What stops a record.
struct Stopped {
  ErrorKind kind;
};
template <typename T>
using Or = std::variant<T, Stopped>;

struct Member;

/// A JSON tree that keeps numbers as text and members in order, with repeats.
struct Node {
  enum Kind { kNull, kBool, kNumber, kString, kObject, kList } kind = kNull;
  bool boolean = false;
  std::string text;  // of a string; of a number as written
  std::string raw;   // as written
  std::vector<Member> members;
  std::vector<Node> elements;

  const Node* Find(std::string_view name) const;
};

struct Member {
  std::string name;
  Node value;
};

const Node* Node::Find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

/// A recursive reader over text that the JSON library has accepted: so it need not check anything.
class Reader {
 public:
  explicit Reader(std::string_view text) : x_text(text) {}
  Node Read() {
    Blank();
    const size_t begin = x_at;
    Node node;
    const char c = x_text[x_at];
    if (c == '{') {
      node.kind = Node::kObject;
      ++x_at;
      for (Blank(); x_text[x_at] != '}'; Blank()) {
        if (x_text[x_at] == ',') ++x_at;
        Blank();
        std::string name = Text();
        Blank();
        ++x_at;
        node.members.push_back(Member{std::move(name), Read()});
      }
      ++x_at;
    } else if (c == '[') {
      node.kind = Node::kList;
      ++x_at;
      for (Blank(); x_text[x_at] != ']'; Blank()) {
        if (x_text[x_at] == ',') ++x_at;
        node.elements.push_back(Read());
      }
      ++x_at;
    } else if (c == '"') {
      node.kind = Node::kString;
      node.text = Text();
    } else {
      const size_t end = std::min(x_text.find_first_of(",]} \t\r\n", x_at), x_text.size());
      node.text = x_text.substr(x_at, end - x_at);
      node.kind = c == 'n' ? Node::kNull : c == 't' || c == 'f' ? Node::kBool : Node::kNumber;
      node.boolean = c == 't';
      x_at = end;
    }
    node.raw = x_text.substr(begin, x_at - begin);
    return node;
  }

 private:
  void Blank() {
    while (x_at < x_text.size() &&
           std::string_view(" \t\r\n").find(x_text[x_at]) != std::string_view::npos)
      ++x_at;
  }
  std::string Text() {
    const size_t begin = x_at++;
    while (x_text[x_at] != '"') x_at += x_text[x_at] == '\\' ? 2 : 1;
    ++x_at;
    const Result<Json> parsed = ParseJson(x_text.substr(begin, x_at - begin));
    return parsed.ok() ? parsed->get_ref<const std::string&>() : std::string();
  }

  std::string_view x_text;
  size_t x_at = 0;
};

/// Whether a general JSON library takes the text.
bool IsJson(std::string_view text) {
  return nlohmann::json::accept(text);
}

bool IsPlaceholder(const Node& node) {
  static const std::string kBase64 = EncodeBase64(kPlaceholder);
  const auto is_text = [&](const Node& n) {
    return n.kind == Node::kString && (n.text == kPlaceholder || n.text == kBase64);
  };
  if (is_text(node)) return true;
  if (node.kind != Node::kList) return false;
  if (node.elements.size() == 1) return is_text(node.elements[0]);
  std::string bytes;
  for (const Node& element : node.elements) {
    if (element.kind != Node::kNumber) return false;
    const int value = std::atoi(element.text.c_str());
    if (value < 1 || value > 126) return false;
    bytes += static_cast<char>(value);
  }
  return bytes == kPlaceholder;
}

Or<Value> Convert(const Node& node, const Type& type, TableSpec::DecimalEncoding encoding);

Or<Value> ConvertDecimal(const Node& node, const Type& type, TableSpec::DecimalEncoding encoding) {
  std::string stored(kDecimalBytesMax, '\0');
  const auto from_base64 = [&](const std::string& text, int32_t scale) -> Or<Value> {
    const Result<std::string> bytes = DecodeBase64(text);
    if (!bytes.ok() || bytes->empty()) return Stopped{ErrorKind::kTypeMismatch};
    if (const Status s = DecimalFromBigEndian(*bytes, scale, type, stored.data()); !s.ok()) {
      return Stopped{s.error().kind};
    }
    return Value(
        Decimal{DecimalToText(std::string_view(stored).substr(0, FixedWidth(type)), type.scale)});
  };
  if (node.kind == Node::kObject) {
    const Node* const scale = node.Find("scale");
    const Node* const value = node.Find("value");
    if (scale == nullptr || value == nullptr || value->kind != Node::kString) {
      return Stopped{ErrorKind::kTypeMismatch};
    }
    return from_base64(value->text, std::atoi(scale->text.c_str()));
  }
  if (node.kind == Node::kString && encoding == TableSpec::DecimalEncoding::kBase64) {
    return from_base64(node.text, type.scale);
  }
  if (node.kind != Node::kString && node.kind != Node::kNumber) {
    return Stopped{ErrorKind::kTypeMismatch};
  }
  for (const char* special : {"NAN", "POSITIVE_INFINITY", "NEGATIVE_INFINITY"}) {
    if (node.text == special) return Stopped{ErrorKind::kNotFiniteDecimal};
  }
  if (const Status s = DecimalFromText(node.text, type, stored.data()); !s.ok()) {
    return Stopped{s.error().kind};
  }
  return Value(
      Decimal{DecimalToText(std::string_view(stored).substr(0, FixedWidth(type)), type.scale)});
}

Or<Value> ConvertNumber(const Node& node) {
  const std::string& text = node.text;
  if (text.find_first_of(".eE") != std::string::npos) return Stopped{ErrorKind::kTypeMismatch};
  errno = 0;
  if (text[0] == '-') {
    const long long value = std::strtoll(text.c_str(), nullptr, 10);
    return errno != 0 ? Or<Value>(Stopped{ErrorKind::kOutOfRange}) : Value(int64_t{value});
  }
  const unsigned long long value = std::strtoull(text.c_str(), nullptr, 10);
  return errno != 0 ? Or<Value>(Stopped{ErrorKind::kOutOfRange}) : Value(uint64_t{value});
}

Or<Value> ConvertFloat(const Node& node) {
  if (node.kind == Node::kNumber) return Value(std::strtod(node.text.c_str(), nullptr));
  if (node.text == "NaN") return Value(std::strtod("nan", nullptr));
  if (node.text == "Infinity") return Value(std::strtod("inf", nullptr));
  if (node.text == "-Infinity") return Value(std::strtod("-inf", nullptr));
  return Stopped{ErrorKind::kTypeMismatch};
}

Or<Value> Convert(const Node& node, const Type& type, TableSpec::DecimalEncoding encoding) {
  if (node.kind == Node::kNull) return Value();
  const bool is_text = node.kind == Node::kString;
  switch (type.kind) {
    case TypeKind::kBool:
      return node.kind == Node::kBool ? Or<Value>(Value(node.boolean))
                                      : Stopped{ErrorKind::kTypeMismatch};
    case TypeKind::kString:
      return is_text ? Or<Value>(Value(node.text)) : Stopped{ErrorKind::kTypeMismatch};
    case TypeKind::kBytes: {
      const Result<std::string> bytes = DecodeBase64(node.text);
      return is_text && bytes.ok() ? Or<Value>(Value(Bytes{*bytes}))
                                   : Stopped{ErrorKind::kTypeMismatch};
    }
    case TypeKind::kUuid: {
      const Result<Uuid> uuid = ParseUuid(node.text);
      return is_text && uuid.ok() ? Or<Value>(Value(node.text)) : Stopped{ErrorKind::kTypeMismatch};
    }
    case TypeKind::kJson:
      return Value(is_text ? node.text : node.raw);
    case TypeKind::kDecimal:
      return ConvertDecimal(node, type, encoding);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return node.kind == Node::kNumber || is_text ? ConvertFloat(node)
                                                   : Stopped{ErrorKind::kTypeMismatch};
    case TypeKind::kList: {
      if (node.kind != Node::kList) return Stopped{ErrorKind::kTypeMismatch};
      List list;
      for (const Node& element : node.elements) {
        Or<Value> value = Convert(element, *type.element, encoding);
        if (const auto* stopped = std::get_if<Stopped>(&value)) return *stopped;
        list.push_back(std::get<Value>(std::move(value)));
      }
      return Value(std::move(list));
    }
    case TypeKind::kDate:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      // The model reads ISO text into such columns itself.
      if (is_text) return Value(node.text);
      return node.kind == Node::kNumber ? ConvertNumber(node) : Stopped{ErrorKind::kTypeMismatch};
    default:
      return node.kind == Node::kNumber ? ConvertNumber(node) : Stopped{ErrorKind::kTypeMismatch};
  }
}

class PlainDecoder {
 public:
  PlainDecoder(Format format, const std::vector<TableSpec>& tables)
      : x_format(format), x_tables(tables) {}

  PlainResult Run(std::string_view text) {
    while (!text.empty() && x_result.error.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      x_pending.clear();
      if (const std::optional<Stopped> stopped = Line(line)) {
        x_result.error = NameOf(stopped->kind);
        break;
      }
      for (std::string& change : x_pending) x_result.changes.push_back(std::move(change));
      ++x_result.records;
    }
    return std::move(x_result);
  }

 private:
  using Stop = std::optional<Stopped>;

  static const Node& Payload(const Node& node) {
    const Node* const payload = node.Find("payload");
    return node.members.size() == 2 && payload != nullptr && node.Find("schema") != nullptr
               ? *payload
               : node;
  }

  Stop Line(std::string_view line) {
    if (!IsJson(line)) return Stopped{ErrorKind::kBadJson};
    const Node root = Reader(line).Read();
    static const Node kNone;
    if (x_format == Format::kDebezium) return Event(Payload(root), kNone, kNone, "");
    if (root.kind != Node::kObject) return Stopped{ErrorKind::kBadEnvelope};
    for (const auto& names : {std::vector<std::string>{"value", "payload"},
                              {"key"},
                              {"partition"},
                              {"offset"},
                              {"topic"}}) {
      int count = 0;
      for (const auto& [member, node] : root.members) {
        const bool counts = names[0] != "topic" || node.kind == Node::kString;
        count += counts && std::count(names.begin(), names.end(), member) != 0;
      }
      if (count > 1) return Stopped{ErrorKind::kBadJson};
    }
    const Node* value = root.Find("value") != nullptr ? root.Find("value") : root.Find("payload");
    const Node* key = root.Find("key");
    const Node* const headers = root.Find("headers");
    const Node* const topic = root.Find("topic");
    if (value == nullptr || !IsPlace(root.Find("partition"), INT32_MAX) ||
        !IsPlace(root.Find("offset"), INT64_MAX)) {
      return Stopped{ErrorKind::kBadEnvelope};
    }
    Node inner_value, inner_key;
    if (value->kind == Node::kString) {
      if (!IsJson(value->text)) return Stopped{ErrorKind::kBadJson};
      inner_value = Reader(value->text).Read();
      value = &inner_value;
    }
    if (key != nullptr && key->kind == Node::kString && IsJson(key->text)) {
      inner_key = Reader(key->text).Read();
      key = &inner_key;
    }
    return Event(Payload(*value), key != nullptr ? Payload(*key) : kNone,
                 headers != nullptr ? *headers : kNone, topic != nullptr ? topic->text : "");
  }

  static bool IsPlace(const Node* node, uint64_t max) {
    if (node == nullptr || node->kind != Node::kNumber) return false;
    if (node->text.find_first_not_of("0123456789") != std::string::npos) return false;
    errno = 0;
    const unsigned long long value = std::strtoull(node->text.c_str(), nullptr, 10);
    return errno == 0 && value <= max;
  }

  const TableSpec* Route(const std::string& schema, const std::string& table) {
    for (const TableSpec& spec : x_tables) {
      for (const std::string& source : spec.sources) {
        if (source == table || source == schema + "." + table) return &spec;
      }
      if (spec.sources.empty()) return &spec;
    }
    return nullptr;
  }

  const TableSpec* RouteTopic(const std::string& topic) {
    if (topic.empty()) return x_tables.size() == 1 ? &x_tables[0] : nullptr;
    const size_t last = topic.rfind('.');
    if (last == std::string::npos) return Route("", topic);
    const size_t second = topic.rfind('.', last - 1);
    return Route(topic.substr(second + 1, last - second - 1), topic.substr(last + 1));
  }

  static bool HasRepeatedField(const Node& source) {
    static const std::set<std::string> kRead = {
        "db",         "schema",   "table", "connector", "snapshot", "file",           "commit_lsn",
        "change_lsn", "sequence", "lsn",   "pos",       "row",      "event_serial_no"};
    std::set<std::string> seen;
    for (const auto& [name, node] : source.members) {
      if (kRead.count(name) != 0 && !seen.insert(name).second) return true;
    }
    return false;
  }

  Stop NullValue(const Node& key, const std::string& topic) {
    const TableSpec* const spec = RouteTopic(topic);
    if (spec == nullptr) return Stopped{ErrorKind::kUnroutedTable};
    Or<std::string> deleted = KeyOf(*spec, Node{}, key);
    if (auto* stopped = std::get_if<Stopped>(&deleted)) {
      if (stopped->kind == ErrorKind::kMissingKey && x_last_was_delete) return std::nullopt;
      return *stopped;
    }
    x_pending.push_back(
        Message("- {} 0/0/0 key={} null_value", spec->name, std::get<std::string>(deleted)));
    return std::nullopt;
  }

  Stop Event(const Node& event, const Node& key, const Node& headers, std::string topic) {
    const auto text = [](const Node* node) {
      return node != nullptr && node->kind == Node::kString ? node->text : std::string();
    };
    if (event.kind == Node::kNull) return NullValue(key, topic);
    if (event.kind != Node::kObject) return Stopped{ErrorKind::kBadEnvelope};
    for (const char* name :
         {"op", "before", "after", "source", "status", "id", "ddl", "tableChanges"}) {
      int count = 0;
      for (const auto& [member, value] : event.members) count += member == name;
      if (count > 1) return Stopped{ErrorKind::kBadJson};
    }
    const Node* const source = event.Find("source");
    if (source != nullptr && HasRepeatedField(*source)) return Stopped{ErrorKind::kBadJson};
    const std::string op = text(event.Find("op"));
    if (op == "m") return std::nullopt;
    if (op.empty()) {
      const bool marker =
          event.Find("status") != nullptr && event.Find("id") != nullptr && source == nullptr;
      const bool has_rows = event.Find("before") != nullptr || event.Find("after") != nullptr;
      if (marker && !has_rows && event.Find("op") == nullptr) return std::nullopt;
      return Stopped{ErrorKind::kBadEnvelope};
    }
    if (std::string("cudrt").find(op) == std::string::npos || op.size() != 1) {
      return Stopped{ErrorKind::kUnsupportedOp};
    }
    if (source == nullptr || source->kind != Node::kObject) return Stopped{ErrorKind::kBadEnvelope};
    static const Node kNone;
    const Node& before = event.Find("before") != nullptr ? *event.Find("before") : kNone;
    const Node& after = event.Find("after") != nullptr ? *event.Find("after") : kNone;
    for (const Node* image : {&before, &after}) {
      if (image->kind != Node::kNull && image->kind != Node::kObject)
        return Stopped{ErrorKind::kBadEnvelope};
    }
    const std::string table = text(source->Find("table"));
    const std::string schema = text(source->Find("schema"));
    const TableSpec* const spec =
        table.empty() ? RouteTopic(topic)
                      : Route(schema.empty() ? text(source->Find("db")) : schema, table);
    if (spec == nullptr) return Stopped{ErrorKind::kUnroutedTable};
    std::string position, flags;
    if (!Position(*source, op, position, flags)) return Stopped{ErrorKind::kNoVersion};
    x_last_was_delete = op == "d";
    if (op == "t") {
      x_pending.push_back(Message("truncate {} {}/1", spec->name, position));
      return std::nullopt;
    }
    if (op == "d") {
      Or<std::string> deleted = KeyOf(*spec, before, key);
      if (auto* stopped = std::get_if<Stopped>(&deleted)) return *stopped;
      std::string line = Message("- {} {}/1 key={}{}", spec->name, position,
                                 std::get<std::string>(deleted), flags);
      AppendOther(*spec, headers, "__debezium.newkey", " moved_to", line);
      x_pending.push_back(std::move(line));
      return std::nullopt;
    }
    return Upsert(*spec, op, before, after, headers, position, flags);
  }

  Stop Upsert(const TableSpec& spec, const std::string& op, const Node& before, const Node& after,
              const Node& headers, const std::string& position, const std::string& flags) {
    if (after.kind != Node::kObject) return Stopped{ErrorKind::kBadEnvelope};
    Row row;
    std::vector<std::string> unavailable;
    std::set<std::string> seen;
    for (const auto& [name, node] : after.members) {
      const std::optional<uint32_t> column = spec.schema.Find(name);
      if (!column) {
        if (node.kind == Node::kNull || spec.evolution == TableSpec::Evolution::kIgnore) continue;
        return Stopped{ErrorKind::kSchemaIncompatible};
      }
      const bool is_key = std::count(spec.primary_key.begin(), spec.primary_key.end(), name) != 0;
      if (!seen.insert(name).second)
        return Stopped{is_key ? ErrorKind::kAmbiguousKey : ErrorKind::kBadJson};
      if (IsPlaceholder(node)) {
        if (is_key) return Stopped{ErrorKind::kUnavailableKey};
        unavailable.push_back(name);
        continue;
      }
      Or<Value> value = Convert(node, spec.schema.columns[*column].type, spec.decimal_encoding);
      if (auto* stopped = std::get_if<Stopped>(&value)) return *stopped;
      row.emplace_back(name, std::get<Value>(std::move(value)));
    }
    Rows rows(spec.schema);
    if (const Status status = AppendRow(spec.schema, row, rows); !status.ok())
      return Stopped{status.error().kind};
    std::string canonical;
    if (const Status s = AppendKey(spec.schema, rows, 0, canonical); !s.ok())
      return Stopped{s.error().kind};
    const std::string key = KeyToText(canonical);
    std::string line = Message("+ {} {}/{} key={} {}{}", spec.name, position, op == "r" ? 0 : 2,
                               key, RowToText(spec.schema, rows, 0), flags);
    const bool has_before = before.kind == Node::kObject && op == "u";
    Row old_values;
    if (has_before) {
      if (const Stop stopped = OldValues(spec, before, unavailable, old_values)) return stopped;
    }
    bool whole = has_before;
    for (const std::string& name : spec.primary_key) {
      const Node* const part = before.Find(name);
      whole = whole && part != nullptr && part->kind != Node::kNull && !IsPlaceholder(*part);
    }
    if (whole) {
      Or<std::string> old = KeyOf(spec, before, before);
      if (auto* stopped = std::get_if<Stopped>(&old)) return *stopped;
      const std::string& other = std::get<std::string>(old);
      if (other != key) {
        x_pending.push_back(Message("- {} {}/1 key={}{} moved_to other={}", spec.name, position,
                                    other, flags, key));
        line += " moved_from other=" + other;
      }
    }
    AppendOther(spec, headers, "__debezium.oldkey", " moved_from", line);
    for (const Column& column : spec.schema.columns) {
      if (std::count(unavailable.begin(), unavailable.end(), column.name) != 0)
        line += " unavailable=" + column.name;
    }
    if (const Stop stopped = AppendOld(spec, old_values, line)) return stopped;
    x_pending.push_back(std::move(line));
    return std::nullopt;
  }

  static Stop AppendOld(const TableSpec& spec, const Row& old_values, std::string& line) {
    const bool any = std::any_of(old_values.begin(), old_values.end(),
                                 [](const auto& value) { return !value.second.is_null(); });
    if (!any) return std::nullopt;
    Schema loose = spec.schema;
    for (Column& column : loose.columns) column.nullable = true;
    loose.key.clear();
    Rows old_rows(loose);
    if (const Status s = AppendRow(loose, old_values, old_rows); !s.ok()) {
      return Stopped{s.error().kind};
    }
    line += " before=" + RowToText(loose, old_rows, 0);
    return std::nullopt;
  }

  static Stop OldValues(const TableSpec& spec, const Node& before,
                        const std::vector<std::string>& unavailable, Row& old_values) {
    for (const Column& column : spec.schema.columns) {
      const bool is_key = std::count(spec.primary_key.begin(), spec.primary_key.end(), column.name);
      if (!is_key && std::count(unavailable.begin(), unavailable.end(), column.name) == 0) continue;
      int count = 0;
      for (const auto& [member, value] : before.members) count += member == column.name;
      if (count > 1) return Stopped{is_key ? ErrorKind::kAmbiguousKey : ErrorKind::kBadJson};
      const Node* const found = before.Find(column.name);
      if (found == nullptr || IsPlaceholder(*found)) continue;
      Or<Value> value = Convert(*found, column.type, spec.decimal_encoding);
      if (auto* stopped = std::get_if<Stopped>(&value)) return *stopped;
      const bool is_empty = (found->kind == Node::kString && found->text.empty()) ||
                            (found->kind == Node::kList && found->elements.empty() &&
                             column.type.kind == TypeKind::kList);
      if (!is_key && !is_empty) {
        old_values.emplace_back(column.name, std::get<Value>(std::move(value)));
      }
    }
    return std::nullopt;
  }

  static std::string Canonical(const Type& type, const Value& value) {
    Schema schema;
    schema.columns.push_back(Column{"k", type});
    schema.key = {0};
    Rows rows(schema);
    std::string out;
    if (!AppendValue(value, rows.columns[0]).ok() || !AppendKey(schema, rows, 0, out).ok()) {
      return "none";
    }
    return out;
  }

  /// The key in `image`, completed by `key`.
  Or<std::string> KeyOf(const TableSpec& spec, const Node& image, const Node& key) {
    Row row;
    for (const std::string& name : spec.primary_key) {
      const Type& type = spec.schema.columns[*spec.schema.Find(name)].type;
      std::optional<Value> values[2];
      bool unavailable = false;
      int at = 0;
      for (const Node* node : {&image, &key}) {
        int count = 0;
        for (const auto& [member, value] : node->members) count += member == name;
        if (count > 1) return Stopped{ErrorKind::kAmbiguousKey};
        // A bare value is the key of a table with one key column.
        const bool bare = node == &key && node != &image && spec.primary_key.size() == 1 &&
                          node->kind != Node::kObject && node->kind != Node::kNull;
        const Node* const found = bare ? node : node->Find(name);
        unavailable = unavailable || (found != nullptr && IsPlaceholder(*found));
        if (found != nullptr && found->kind != Node::kNull && !IsPlaceholder(*found)) {
          Or<Value> value = Convert(*found, type, spec.decimal_encoding);
          if (auto* stopped = std::get_if<Stopped>(&value)) {
            // A bare key that is no value of the column says nothing.
            if (!bare) return *stopped;
            continue;
          }
          values[at] = std::get<Value>(std::move(value));
        }
        ++at;
      }
      if (!values[0] && !values[1]) {
        if (unavailable) return Stopped{ErrorKind::kUnavailableKey};
        const bool is_null = image.Find(name) != nullptr || key.Find(name) != nullptr;
        return Stopped{is_null ? ErrorKind::kNullInKey : ErrorKind::kMissingKey};
      }
      if (values[0] && values[1] && Canonical(type, *values[0]) != Canonical(type, *values[1])) {
        return Stopped{ErrorKind::kAmbiguousKey};
      }
      row.emplace_back(name, values[0] ? *values[0] : *values[1]);
    }
    Rows rows(spec.schema);
    if (const Status s = AppendRow(spec.schema, row, rows); !s.ok()) return Stopped{s.error().kind};
    std::string canonical;
    if (const Status s = AppendKey(spec.schema, rows, 0, canonical); !s.ok())
      return Stopped{s.error().kind};
    return KeyToText(canonical);
  }

  void AppendOther(const TableSpec& spec, const Node& headers, const char* name, const char* flag,
                   std::string& line) {
    std::optional<Node> key;
    for (const Node& pair : headers.elements) {
      if (pair.elements.size() >= 2 && pair.elements[0].text == name) {
        key = IsJson(pair.elements[1].text) ? Reader(pair.elements[1].text).Read() : Node{};
      }
    }
    if (const Node* const found = headers.Find(name)) {
      const bool is_text = found->kind == Node::kString && IsJson(found->text);
      key = is_text ? Reader(found->text).Read() : *found;
    }
    if (!key) return;
    const Or<std::string> other = KeyOf(spec, *key, Node{});
    line += flag;
    if (const auto* text = std::get_if<std::string>(&other)) line += " other=" + *text;
  }

  static bool Position(const Node& source, const std::string& op, std::string& position,
                       std::string& flags) {
    std::string commit, event;
    const Node* const connector = source.Find("connector");
    if (connector != nullptr && connector->kind == Node::kString && !connector->text.empty() &&
        connector->text != "postgresql") {
      return false;
    }
    const Node* const sequence = source.Find("sequence");
    const Node* const lsn = source.Find("lsn");
    const bool has_sequence = sequence != nullptr && sequence->kind != Node::kNull;
    if (has_sequence && sequence->kind != Node::kString && sequence->kind != Node::kList)
      return false;
    if (has_sequence) {
      const std::string& text = sequence->kind == Node::kString ? sequence->text : sequence->raw;
      if (!IsJson(text)) return false;
      const Node parts = Reader(text).Read();
      if (parts.elements.size() != 2) return false;
      for (const Node& part : parts.elements) {
        const bool digits = part.text.find_first_not_of("0123456789") == std::string::npos;
        errno = 0;
        std::strtoull(part.text.c_str(), nullptr, 10);
        if (part.kind != Node::kNull && (!digits || part.text.empty() || errno != 0)) return false;
      }
      const auto number = [](const Node& part) {
        return part.kind == Node::kNull
                   ? ""
                   : std::to_string(std::strtoull(part.text.c_str(), nullptr, 10));
      };
      commit = number(parts.elements[0]);
      event = number(parts.elements[1]);
    }
    if (event.empty() && lsn != nullptr) {
      Node number = *lsn;
      if (number.kind == Node::kString && !number.text.empty()) number.kind = Node::kNumber;
      if (IsPlace(&number, UINT64_MAX)) {
        event = std::to_string(std::strtoull(number.text.c_str(), nullptr, 10));
      }
    }
    if (op == "r") {
      const Node* const snapshot = source.Find("snapshot");
      flags = " read";
      if (snapshot != nullptr &&
          (snapshot->text == "last" || snapshot->text == "last_in_data_collection"))
        flags += " end";
      if (event.empty() || event == "0") flags += " unpositioned";
      position = (event.empty() ? "0" : event) + "/0";
      return true;
    }
    if (event.empty()) return false;
    if (commit.empty() && has_sequence) flags = " no_commit";
    position = (commit.empty() ? event : commit) + "/" + event;
    return true;
  }

  const Format x_format;
  const std::vector<TableSpec>& x_tables;
  PlainResult x_result;
  std::vector<std::string> x_pending;
  bool x_last_was_delete = true;
};

}  // namespace

PlainResult DecodePlainly(Format format, const std::vector<TableSpec>& tables,
                          std::string_view text) {
  return PlainDecoder(format, tables).Run(text);
}

}  // namespace lastword::codec
