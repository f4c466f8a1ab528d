# The Python package. The engine is inside the module, so that the package needs no libthalweg.so beside it.
file(GLOB module_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" thalweg/python/*.cc)
if(NOT module_sources)
  message(STATUS "thalweg/python has no sources: the Python module is left out")
  return()
endif()

find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
                OUTPUT_VARIABLE nanobind_ROOT ERROR_QUIET)
find_package(nanobind CONFIG)
if(NOT nanobind_FOUND)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no nanobind: run tools/make_python_env")
endif()

nanobind_add_module(_thalweg NB_STATIC NOMINSIZE ${module_sources})
thalweg_compile_in_batches(_thalweg 6)
target_link_libraries(_thalweg PRIVATE thalweg_objects thalweg_compiler_options)
# nanobind's and CPython's headers are not ours to warn about.
target_include_directories(_thalweg SYSTEM PRIVATE "${NB_DIR}/include" ${Python_INCLUDE_DIRS})
set_target_properties(_thalweg PROPERTIES INSTALL_RPATH "${THALWEG_RUNTIME_PATH}")
# The module shows its entry alone, so that it never meets a libthalweg.so of the same process.
set(module_symbols "${PROJECT_SOURCE_DIR}/cmake/python_module.map")
target_link_options(_thalweg PRIVATE "-Wl,--version-script=${module_symbols}")
set_target_properties(_thalweg PROPERTIES LINK_DEPENDS "${module_symbols}")

# build/<preset>/python is importable as it stands: links to the sources, and the module beside them.
set(package "${PROJECT_BINARY_DIR}/python/thalweg")
set_target_properties(_thalweg PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${package}")
file(GLOB_RECURSE package_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/python/thalweg"
     python/thalweg/*.py python/thalweg/*.pyi python/thalweg/py.typed)
file(GLOB_RECURSE old_links LIST_DIRECTORIES false "${package}/*.py" "${package}/*.pyi")
foreach(link ${old_links})
  if(IS_SYMLINK "${link}")
    file(REMOVE "${link}")
  endif()
endforeach()
foreach(file ${package_files})
  get_filename_component(folder "${package}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/thalweg/${file}" "${package}/${file}" SYMBOLIC)
endforeach()

# Docstrings come from the headers, type stubs from the registries of the module that was just built.
file(GLOB op_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/thalweg/ops/*.h" "${PROJECT_SOURCE_DIR}/thalweg/io/*.h"
     "${PROJECT_SOURCE_DIR}/thalweg/keras/*.h")
set(extract_docs "${PROJECT_SOURCE_DIR}/tools/extract_docs")
add_custom_command(OUTPUT "${package}/_docs.json" DEPENDS "${extract_docs}" ${op_headers} VERBATIM
                   COMMAND "${Python_EXECUTABLE}" "${extract_docs}" "${package}/_docs.json" ${op_headers})
add_custom_target(thalweg_python_docs ALL DEPENDS "${package}/_docs.json")
add_dependencies(_thalweg thalweg_python_docs)
if(NOT THALWEG_SANITIZE)  # a module with sanitizers does not load into a plain interpreter
  add_custom_command(TARGET _thalweg POST_BUILD VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_BINARY_DIR}/python"
            "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/make_stubs" "${package}")
endif()

if(DEFINED SKBUILD)
  install(TARGETS _thalweg LIBRARY DESTINATION thalweg)
  install(FILES "${package}/_docs.json" DESTINATION thalweg)
  install(DIRECTORY "${package}/" DESTINATION thalweg FILES_MATCHING PATTERN "*.pyi")
endif()
