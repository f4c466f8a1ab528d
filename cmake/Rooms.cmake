# Each folder of thalweg/ is an object library. The shared library and the archive are made of THALWEG_OBJECTS; the Python
# module and the tests link thalweg_objects, which brings the same objects. Headers live beside sources; thalweg/python is the
# Python module's own.
#
# Most of a file's compile time goes into headers and into templates that its neighbours instantiate too: files are compiled
# several at a time, fewer where loops are what takes the time. docs/decisions/0014 has the figures.
add_library(thalweg_headers INTERFACE)
target_include_directories(thalweg_headers INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
target_link_libraries(thalweg_headers INTERFACE ${THALWEG_DEPENDENCIES})

set(thalweg_batch_core 5)
set(thalweg_batch_kernels 1)
set(thalweg_batch_ops 4)
set(thalweg_batch_default 8)
# Keras puts ops together and computes nothing itself: what -O3 gains there is not worth its compile time.
set(thalweg_options_keras "$<$<CONFIG:Release>:-O1>")

function(thalweg_compile_in_batches target size)
  if(THALWEG_UNITY AND size GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# Inlined into its neighbours, GCC 12 sees an index of -1 in it that is not there.
set_source_files_properties(thalweg/ops/slice_spec.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

file(GLOB rooms RELATIVE "${PROJECT_SOURCE_DIR}/thalweg" CONFIGURE_DEPENDS thalweg/*)
list(REMOVE_ITEM rooms python)
foreach(room ${rooms})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS thalweg/${room}/*.cc)
  if(NOT sources)
    continue()
  endif()
  add_library(thalweg_${room} OBJECT ${sources})
  target_link_libraries(thalweg_${room} PRIVATE thalweg_headers thalweg_compiler_options)
  target_compile_options(thalweg_${room} PRIVATE ${thalweg_options_${room}})
  if(DEFINED thalweg_batch_${room})
    thalweg_compile_in_batches(thalweg_${room} ${thalweg_batch_${room}})
  else()
    thalweg_compile_in_batches(thalweg_${room} ${thalweg_batch_default})
  endif()
  list(APPEND THALWEG_ROOMS thalweg_${room})
  list(APPEND THALWEG_OBJECTS $<TARGET_OBJECTS:thalweg_${room}>)
endforeach()

add_library(thalweg_objects INTERFACE)
target_sources(thalweg_objects INTERFACE ${THALWEG_OBJECTS})
target_link_libraries(thalweg_objects INTERFACE thalweg_headers)
