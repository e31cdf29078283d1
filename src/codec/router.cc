#include "codec/router.h"

namespace lastword::codec {

Router::Router(const std::vector<TableSpec>& tables) {
  for (uint32_t i = 0; i < tables.size(); ++i) {
    if (tables[i].sources.empty() && x_every == kNone) x_every = i;
    for (const std::string& source : tables[i].sources) x_names.emplace(source, i);
  }
  if (tables.size() == 1) x_only = 0;
}

uint32_t Router::Named(std::string_view name) const {
  const auto found = x_names.find(std::string(name));
  return found == x_names.end() ? kNone : found->second;
}

uint32_t Router::ByTable(std::string_view schema, std::string_view table, std::string_view topic) {
  if (x_asked && table == x_table && schema == x_schema && topic == x_topic) return x_answer;
  x_asked = true;
  x_schema = schema;
  x_table = table;
  x_topic = topic;
  x_answer = kNone;
  if (!table.empty() && !schema.empty()) x_answer = Named(x_schema + "." + x_table);
  if (x_answer == kNone && !topic.empty()) x_answer = Named(topic);
  if (x_answer == kNone && !table.empty()) x_answer = Named(table);
  if (x_answer == kNone) x_answer = x_every;
  return x_answer;
}

uint32_t Router::ByTopic(std::string_view topic) {
  if (topic.empty()) return x_only;
  const size_t last = topic.rfind('.');
  if (last == std::string_view::npos) return ByTable({}, topic, topic);
  const size_t second = topic.rfind('.', last - 1);
  const std::string_view schema = second == std::string_view::npos || last == 0
                                      ? topic.substr(0, last)
                                      : topic.substr(second + 1, last - second - 1);
  return ByTable(schema, topic.substr(last + 1), topic);
}

}  // namespace lastword::codec
