# Examples and tools: every source file is a program of its own, named after it.
function(thalweg_add_programs folder)
  file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cc")
  foreach(source ${programs})
    get_filename_component(name "${source}" NAME_WE)
    string(REPLACE "/" "_" target "${folder}/${name}")
    add_executable(${target} "${source}")
    target_link_libraries(${target} PRIVATE thalweg_shared thalweg_compiler_options)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}")
  endforeach()
endfunction()

thalweg_add_programs(examples/cpp)
thalweg_add_programs(tools)
