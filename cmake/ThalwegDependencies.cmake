# The libraries the engine stands on, as imported targets. The installed package includes this file again for those who
# link the archive, so it may use nothing but CMake itself.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(ZLIB)

# Makes the target thalweg_dependency_<name> of a header and a library that come without a CMake package.
function(thalweg_find_dependency name)
  cmake_parse_arguments(PARSE_ARGV 1 find "" "HEADER" "LIBRARY;SUFFIXES")
  find_path(THALWEG_${name}_INCLUDE_DIR ${find_HEADER} PATH_SUFFIXES ${find_SUFFIXES})
  find_library(THALWEG_${name}_LIBRARY NAMES ${find_LIBRARY} PATH_SUFFIXES ${find_SUFFIXES})
  mark_as_advanced(THALWEG_${name}_INCLUDE_DIR THALWEG_${name}_LIBRARY)
  if(NOT THALWEG_${name}_INCLUDE_DIR OR NOT THALWEG_${name}_LIBRARY)
    message(FATAL_ERROR "${name} was not found (${find_HEADER}, ${find_LIBRARY}): run tools/install_dependencies")
  endif()
  if(NOT TARGET thalweg_dependency_${name})
    add_library(thalweg_dependency_${name} UNKNOWN IMPORTED)
    set_target_properties(thalweg_dependency_${name} PROPERTIES
      IMPORTED_LOCATION "${THALWEG_${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${THALWEG_${name}_INCLUDE_DIR}")
  endif()
endfunction()

thalweg_find_dependency(onednn HEADER dnnl.hpp LIBRARY dnnl)
thalweg_find_dependency(re2 HEADER re2/re2.h LIBRARY re2)
# The serial flavour where the distribution has several: threads are ours. LAPACKE comes from its archive, because the
# shared one would pull in whichever BLAS the machine prefers.
thalweg_find_dependency(openblas HEADER cblas.h LIBRARY openblas SUFFIXES openblas-serial)
thalweg_find_dependency(lapacke HEADER lapacke.h LIBRARY liblapacke.a lapacke)
set_target_properties(thalweg_dependency_lapacke PROPERTIES INTERFACE_LINK_LIBRARIES thalweg_dependency_openblas)

# The lines of a program for error messages: GCC brings the library, other compilers do without.
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libbacktrace.a OUTPUT_VARIABLE thalweg_backtrace
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT EXISTS "${thalweg_backtrace}")
  set(thalweg_backtrace "")
endif()

set(THALWEG_DEPENDENCIES
    thalweg_dependency_onednn thalweg_dependency_re2 thalweg_dependency_lapacke
    thalweg_dependency_openblas fmt::fmt ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS} gomp ${thalweg_backtrace})
