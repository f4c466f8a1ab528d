# The target `benchmarks`: *_bench.cc become one Google Benchmark program, other files programs of their own. They see the
# engine's inside, so that bare kernels can be measured beside the ops.
file(GLOB_RECURSE benchmark_sources CONFIGURE_DEPENDS bench/*_bench.cc)
file(GLOB tool_sources CONFIGURE_DEPENDS bench/*.cc)
list(FILTER tool_sources EXCLUDE REGEX "_bench\\.cc$")

add_custom_target(benchmarks)
function(thalweg_add_benchmark name)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${name} PRIVATE thalweg_objects thalweg_compiler_options)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  add_dependencies(benchmarks ${name})
endfunction()

foreach(source ${tool_sources})
  get_filename_component(name "${source}" NAME_WE)
  thalweg_add_benchmark(${name} "${source}")
endforeach()
if(benchmark_sources)
  find_package(benchmark REQUIRED)
  thalweg_add_benchmark(thalweg_bench ${benchmark_sources})
  target_link_libraries(thalweg_bench PRIVATE benchmark::benchmark benchmark::benchmark_main)
endif()
