#include "codec/scalar_scan.h"

namespace lastword::codec {

const char* PlainEnd(const char* at, const char* end) {
  const char* behind = at;
  while (behind != end && *behind != ',' && *behind != '}' && *behind != ']' &&
         !JsonDoc::IsBlank(*behind)) {
    ++behind;
  }
  const std::string_view raw(at, static_cast<size_t>(behind - at));
  const bool sound = raw == "null" || raw == "true" || raw == "false" || IsNumber(raw);
  return sound ? behind : nullptr;
}

}  // namespace lastword::codec
