// Asks the installed library about a table that is not there, as a C++ host: package_test.cmake
// builds and runs it. It reaches the Rust library too, so that a missing one is noticed.
#include <lastword/c.h>

#include <cstdio>
#include <string>

int main() {
  const std::string uri = "/nowhere/at-all.lance";
  lastword_bytes* json = nullptr;
  lastword_error* error = nullptr;
  if (lastword_describe(uri.data(), uri.size(), 0, &json, &error) != 0) {
    std::fprintf(stderr, "%s\n", lastword_error_message(error));
    lastword_error_free(error);
    return 1;
  }
  const std::string told(reinterpret_cast<const char*>(lastword_bytes_data(json)),
                         lastword_bytes_size(json));
  lastword_bytes_free(json);
  std::printf("%s\n", told.c_str());
  return told.find("\"exists\":false") != std::string::npos ? 0 : 1;
}
