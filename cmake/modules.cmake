# lw_module(NAME SOURCES … [DEPS …]): one static library a folder of src/. DEPS are the arrows of docs/ARCHITECTURE.
function(lw_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(lw_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(lw_${name} PUBLIC ${ARG_DEPS})
endfunction()

# lw_precompile(NAME…): the first of these modules parses the headers that nearly all sources of all of them include,
# once. Only what changes rarely and all of them may use: a change of one of them compiles everything here anew. Each
# source still includes what it uses: the simulation's copies are compiled without this, and miss what is missing.
function(lw_precompile name)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()  # Clang's carry the time they were made at, and ccache would keep none.
  endif()
  target_precompile_headers(lw_${name} PRIVATE
    <algorithm> <chrono> <deque> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view>
    <unordered_map> <unordered_set> <variant> <vector>
    <base/format.h> <lastword/table.h> <model/change_batch.h>)
  foreach(other ${ARGN})
    target_precompile_headers(lw_${other} REUSE_FROM lw_${name})
  endforeach()
endfunction()

# lw_test_module(NAME SOURCES … [DEPS …]): the same for what only tests link; a plain build leaves it out.
function(lw_test_module name)
  lw_module(${name} ${ARGN})
  set_target_properties(lw_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
endfunction()

# `tests_fast` and `tests_slow` build every test of a label; a plain build builds none.
add_custom_target(tests_fast)
add_custom_target(tests_slow)

# lw_test(NAME LABEL fast|slow SOURCES … DEPS …): one GoogleTest program; LABEL says in which CI stage it runs.
# Only tests see test/: "test/…" is on their include path alone.
function(lw_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_LABEL MATCHES "^(fast|slow)$")
    message(FATAL_ERROR "lw_test(${name}): LABEL is fast or slow, not '${ARG_LABEL}'")
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}")
  add_dependencies(tests_${ARG_LABEL} ${name})
endfunction()
