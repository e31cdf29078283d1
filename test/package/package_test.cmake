# Installs what was built into an empty prefix, builds a foreign project against it with the CMake package and with
# pkg-config, and runs both: cmake -DBUILD=… -DSOURCE=… -DSCRATCH=… -DCC=… -P package_test.cmake.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}: ${result}\n${out}")
  endif()
  set(run_output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/consumer -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix)
run(${CMAKE_COMMAND} --build ${SCRATCH}/consumer)
run(${SCRATCH}/consumer/consumer_c)
run(${SCRATCH}/consumer/consumer_cxx)

file(GLOB_RECURSE pc ${SCRATCH}/prefix/lastword.pc)
get_filename_component(folder ${pc} DIRECTORY)
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} pkg-config --cflags --libs lastword)
separate_arguments(flags UNIX_COMMAND "${run_output}")
run(${CC} -std=c99 -pedantic -Wall -Werror ${SOURCE}/consumer.c -o ${SCRATCH}/consumer_pc ${flags})
get_filename_component(libraries ${folder} DIRECTORY)
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${SCRATCH}/consumer_pc)
file(REMOVE_RECURSE ${SCRATCH})
