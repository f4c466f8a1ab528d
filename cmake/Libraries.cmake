# libthalweg.so, libthalweg.a, and what `cmake --install` puts beside them.
include(CMakePackageConfigHelpers)

add_library(thalweg_shared SHARED $<TARGET_OBJECTS:thalweg_objects>)
add_library(thalweg_archive STATIC $<TARGET_OBJECTS:thalweg_objects>)
foreach(library thalweg_shared thalweg_archive)
  target_link_libraries(${library} PRIVATE ${THALWEG_DEPENDENCIES})
  target_include_directories(${library} INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                             "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(${library} INTERFACE cxx_std_20)
endforeach()

# A distribution with several OpenBLAS flavours keeps them outside the loader's usual folders, and the bare name may mean
# another flavour: what is installed remembers the folder.
get_filename_component(THALWEG_RUNTIME_PATH "${THALWEG_openblas_LIBRARY}" DIRECTORY)
set_target_properties(thalweg_shared PROPERTIES
  OUTPUT_NAME thalweg EXPORT_NAME thalweg VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  INSTALL_RPATH "${THALWEG_RUNTIME_PATH}")
set_target_properties(thalweg_archive PROPERTIES OUTPUT_NAME thalweg EXPORT_NAME archive)

# Data that comes with the library stands in share/thalweg beside or above it: in the build tree, an installed tree, a wheel.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/data" "${PROJECT_BINARY_DIR}/share/thalweg" SYMBOLIC)
if(DEFINED SKBUILD)
  install(FILES data/mnist.npz DESTINATION thalweg/share/thalweg)
  return()  # a Python package carries the engine inside its module
endif()
install(FILES data/mnist.npz DESTINATION "${CMAKE_INSTALL_DATADIR}/thalweg")

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/thalweg")
install(DIRECTORY thalweg DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "thalweg/python" EXCLUDE)
install(TARGETS thalweg_shared EXPORT thalwegTargets)
install(TARGETS thalweg_archive EXPORT thalwegStaticTargets)
install(EXPORT thalwegTargets NAMESPACE thalweg:: DESTINATION "${package_directory}")
install(EXPORT thalwegStaticTargets NAMESPACE thalweg:: DESTINATION "${package_directory}")
configure_package_config_file(cmake/thalwegConfig.cmake.in "${PROJECT_BINARY_DIR}/package/thalwegConfig.cmake"
                              INSTALL_DESTINATION "${package_directory}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/thalwegConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
configure_file(cmake/thalweg.pc.in "${PROJECT_BINARY_DIR}/package/thalweg.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/thalwegConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/thalwegConfigVersion.cmake" cmake/ThalwegDependencies.cmake
        DESTINATION "${package_directory}")
install(FILES "${PROJECT_BINARY_DIR}/package/thalweg.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
