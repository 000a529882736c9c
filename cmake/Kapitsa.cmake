# kapitsa_library(NAME [DEPS lib...]): the static library of the calling folder, from all its .cpp
# files (subfolders that have their own CMakeLists.txt excluded by their caller via EXCLUDE regex).
function(kapitsa_library name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  add_library(kapitsa_${name} STATIC ${sources})
  target_include_directories(kapitsa_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(kapitsa_${name} PUBLIC ${ARG_DEPS})
  # The headers that nearly every file reads, parsed once: half of the time of a clean build.
  if(name STREQUAL "base")
    target_precompile_headers(kapitsa_base PRIVATE ${CMAKE_SOURCE_DIR}/cmake/common.h)
  elseif(NOT name STREQUAL "backend")  # its kernels have flags of their own
    target_precompile_headers(kapitsa_${name} REUSE_FROM kapitsa_base)
  endif()
endfunction()

# kapitsa_test(NAME [DEPS lib...]): one gtest binary from the calling folder's *_test.cpp; every test
# case is its own ctest entry, run from the source folder.
function(kapitsa_test name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE KAPITSA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(${name}_test PRIVATE -O1)
  target_precompile_headers(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/cmake/common.h <gtest/gtest.h>)
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPS} GTest::gtest_main)
  gtest_discover_tests(${name}_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60)
endfunction()
