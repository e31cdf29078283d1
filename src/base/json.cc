#include "base/json.h"

#include <limits>

#include "base/format.h"

namespace lastword {
namespace {

// Finds the byte at which a text stops being JSON. The library's parser gives that with an
// exception only; this second pass, over texts that failed, gives it without.
class PlaceOfError : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    x_position = position;
    return false;
  }
  size_t position() const { return x_position; }

 private:
  size_t x_position = 0;
};

Error WrongMember(std::string_view name, std::string_view wanted) {
  return Error{ErrorKind::kBadJson, Message("member \"{}\" must be {}", name, wanted)};
}

Result<std::string> AsString(const Json* member, std::string_view name) {
  if (member == nullptr || !member->is_string()) return WrongMember(name, "a string");
  return *member->get_ptr<const std::string*>();
}

Result<uint64_t> AsUint64(const Json* member, std::string_view name) {
  if (member == nullptr || !member->is_number_unsigned()) {
    return WrongMember(name, "a whole number from 0 to 2^64-1");
  }
  return *member->get_ptr<const Json::number_unsigned_t*>();
}

Result<int64_t> AsInt64(const Json* member, std::string_view name) {
  if (member != nullptr && member->is_number_unsigned()) {
    const uint64_t value = *member->get_ptr<const Json::number_unsigned_t*>();
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return static_cast<int64_t>(value);
    }
  } else if (member != nullptr && member->is_number_integer()) {
    return *member->get_ptr<const Json::number_integer_t*>();
  }
  return WrongMember(name, "a whole number from -2^63 to 2^63-1");
}

Result<bool> AsBool(const Json* member, std::string_view name) {
  if (member == nullptr || !member->is_boolean()) return WrongMember(name, "true or false");
  return *member->get_ptr<const bool*>();
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) return json;
  PlaceOfError place;
  Json::sax_parse(text.begin(), text.end(), &place);
  return Error{ErrorKind::kBadJson, Message("text is not JSON at byte {}", place.position())};
}

std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string DumpJsonIndented(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

const Json* FindMember(const Json& json, std::string_view name) {
  if (!json.is_object()) return nullptr;
  const auto member = json.find(std::string(name));
  return member == json.end() || member->is_null() ? nullptr : &*member;
}

Result<std::string> GetString(const Json& json, std::string_view name) {
  return AsString(FindMember(json, name), name);
}
Result<uint64_t> GetUint64(const Json& json, std::string_view name) {
  return AsUint64(FindMember(json, name), name);
}
Result<int64_t> GetInt64(const Json& json, std::string_view name) {
  return AsInt64(FindMember(json, name), name);
}
Result<bool> GetBool(const Json& json, std::string_view name) {
  return AsBool(FindMember(json, name), name);
}

Result<std::string> GetString(const Json& json, std::string_view name, std::string missing) {
  const Json* member = FindMember(json, name);
  if (member == nullptr) return missing;
  return AsString(member, name);
}
Result<uint64_t> GetUint64(const Json& json, std::string_view name, uint64_t missing) {
  const Json* member = FindMember(json, name);
  if (member == nullptr) return missing;
  return AsUint64(member, name);
}
Result<int64_t> GetInt64(const Json& json, std::string_view name, int64_t missing) {
  const Json* member = FindMember(json, name);
  if (member == nullptr) return missing;
  return AsInt64(member, name);
}
Result<bool> GetBool(const Json& json, std::string_view name, bool missing) {
  const Json* member = FindMember(json, name);
  if (member == nullptr) return missing;
  return AsBool(member, name);
}

}  // namespace lastword
