# The kernels ask for more by themselves (src/backend); elsewhere -O3 only costs time to build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE ccache)
if(CCACHE)
  # ccache handles precompiled headers only when it is told that their times do not matter.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Contract 1 (same tokens, always) needs every float operation to be the one that was written:
# the compiler may not fuse, reassociate or assume away NaN and infinity.
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off -fno-math-errno)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees overlapping copies and short buffers in its own std::string where there are none.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict> $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow> $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
endif()

if(KAPITSA_SANITIZE)
  add_compile_options(-fsanitize=${KAPITSA_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${KAPITSA_SANITIZE})
  if(KAPITSA_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# The libraries tell libFuzzer which branches an input took (tests/fuzz).
if(KAPITSA_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
