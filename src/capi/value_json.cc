#include "capi/value_json.h"

#include <cmath>

#include "base/base64.h"
#include "base/format.h"
#include "model/explanation.h"

namespace lastword::capi {
namespace {

struct ToJson {
  Json operator()(std::monostate) const { return Json(); }
  Json operator()(bool value) const { return Json(value); }
  Json operator()(int64_t value) const { return Json(value); }
  Json operator()(uint64_t value) const { return Json(value); }
  Json operator()(double value) const {
    return std::isfinite(value) ? Json(value) : Json(Message("{}", value));
  }
  Json operator()(const std::string& value) const { return Json(value); }
  Json operator()(const Decimal& value) const { return Json(value.text); }
  Json operator()(const Bytes& value) const { return Json(EncodeBase64(value.bytes)); }
  Json operator()(const List& values) const {
    Json json = Json::array();
    for (const Value& value : values) json.push_back(ValueToJson(value));
    return json;
  }
};

}  // namespace

Json ValueToJson(const Value& value) {
  return std::visit(ToJson{}, value.held);
}

Json ExplanationToJson(const Explanation& explanation) {
  Json json = Json::object();
  json["state"] = std::string(NameOf(explanation.state));
  json["version"] = explanation.version ? Json(ToString(*explanation.version)) : Json();
  json["lance_version"] = explanation.lance_version ? Json(*explanation.lance_version) : Json();
  json["checkpoint"] = explanation.checkpoint.empty() ? Json() : Json(explanation.checkpoint);
  json["row"] = Json();
  if (explanation.row) {
    json["row"] = Json::object();
    for (const auto& [name, value] : *explanation.row) json["row"][name] = ValueToJson(value);
  }
  json["quarantined"] = explanation.quarantined;
  json["would_be"] =
      explanation.would_be ? Json(std::string(NameOf(*explanation.would_be))) : Json();
  json["why"] = explanation.why;
  return json;
}

}  // namespace lastword::capi
