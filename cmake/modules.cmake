# lw_module(NAME SOURCES … [DEPS …]): one static library a folder of src/. DEPS are the arrows of docs/ARCHITECTURE.
function(lw_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(lw_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(lw_${name} PUBLIC ${ARG_DEPS})
endfunction()

# lw_test(NAME LABEL fast|slow SOURCES … DEPS …): one GoogleTest program; LABEL says in which CI stage it runs.
function(lw_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}")
endfunction()
