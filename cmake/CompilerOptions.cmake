# Flags, launcher and linker for everything built here. Never -march=native: kernels choose at run time.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths count from the sources, so that clones and work trees share what one of them has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
add_link_options(-Wl,--as-needed)
# In what is shared, archives such as libxsmm stay invisible, so that another copy may live in the same process; and nobody
# replaces a function of ours from outside, so calls inside the library go straight to it.
foreach(kind SHARED MODULE)
  string(APPEND CMAKE_${kind}_LINKER_FLAGS " -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions")
endforeach()
add_compile_options(-fno-semantic-interposition)

if(THALWEG_SANITIZE)
  add_compile_options(-fsanitize=${THALWEG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${THALWEG_SANITIZE})
endif()

# docs/decisions/0001-build.md says why each floating-point flag is safe.
add_library(thalweg_compiler_options INTERFACE)
target_compile_options(thalweg_compiler_options INTERFACE
  -fno-math-errno -fno-trapping-math -fopenmp-simd $<$<CXX_COMPILER_ID:GNU>:-fcx-limited-range>
  -Wall -Wextra -Wconversion $<$<BOOL:${THALWEG_WERROR}>:-Werror>
  # clang, which builds the fuzzers, knows neither GCC's loop pragmas nor the preferred width of vectors, and -O1 leaves loops
  # as they are
  $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas> $<$<CXX_COMPILER_ID:Clang>:-Wno-ignored-attributes>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # GCC 12 sees overlaps in "literal" + std::string that are not there
if(THALWEG_SANITIZE)
  # The instrumentation hides initialisations from this analysis.
  target_compile_options(thalweg_compiler_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
