/* Collapses two changes of one key with the installed library, as a C99 host: package_test.cmake
 * builds and runs it. */
#include <lastword/c.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static const char kOptions[] =
      "{\"columns\": [{\"name\": \"id\", \"type\": \"int64\"}], \"key\": [\"id\"]}";
  /* +I and -D of key 7: kind, nulls, value. */
  static const uint8_t kRows[] = {0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 7, 0, 0, 0, 0, 0, 0, 0};
  lastword_writer* writer = NULL;
  lastword_error* error = NULL;
  lastword_writer_stats stats;
  if (lastword_writer_open(kOptions, strlen(kOptions), &writer, &error) != 0 ||
      lastword_writer_add(writer, kRows, sizeof kRows, 2, &error) != 0) {
    fprintf(stderr, "%s\n", lastword_error_message(error));
    lastword_error_free(error);
    return 1;
  }
  memset(&stats, 0, sizeof stats);
  stats.size = sizeof stats;
  lastword_writer_get_stats(writer, &stats);
  lastword_writer_close(writer);
  printf("%s %d\n", lastword_version(), (int)stats.rows_collapsed);
  return stats.rows_collapsed == 1 ? 0 : 1;
}
