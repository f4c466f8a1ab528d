# libthalweg.so, libthalweg.a, and what `cmake --install` puts beside them.
include(CMakePackageConfigHelpers)

add_library(thalweg_shared SHARED ${THALWEG_OBJECTS})
add_library(thalweg_archive STATIC ${THALWEG_OBJECTS})
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
# Ops and functions register themselves before main. So do the global tensors of a program compute, and its objects come
# before the archive's: those of the archive get a priority, as a shared library has by being loaded first.
add_custom_command(TARGET thalweg_archive POST_BUILD VERBATIM
  COMMAND "${CMAKE_OBJCOPY}" --rename-section .init_array=.init_array.65000 "$<TARGET_FILE:thalweg_archive>")

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
# What the archive needs, as a linker is told.
set(THALWEG_PRIVATE_LIBRARIES "${THALWEG_onednn_LIBRARY} ${THALWEG_re2_LIBRARY} ${THALWEG_lapacke_LIBRARY} \
${THALWEG_openblas_LIBRARY} -lfmt -lz -lgomp -lpthread -ldl ${thalweg_backtrace} \
-Wl,-rpath,${THALWEG_RUNTIME_PATH}")
foreach(package thalweg thalweg-static)
  configure_file(cmake/${package}.pc.in "${PROJECT_BINARY_DIR}/package/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${package}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
# gdb loads what stands under this name when a program loads the library.
install(FILES tools/gdb_printers.py DESTINATION "${CMAKE_INSTALL_DATADIR}/thalweg")
install(FILES tools/gdb_printers.py DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load/${CMAKE_INSTALL_FULL_LIBDIR}"
        RENAME "libthalweg.so.${PROJECT_VERSION}-gdb.py")
install(FILES "${PROJECT_BINARY_DIR}/package/thalwegConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/thalwegConfigVersion.cmake" cmake/ThalwegDependencies.cmake
        DESTINATION "${package_directory}")
