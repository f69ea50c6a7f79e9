# SPDX-License-Identifier: GPL-3.0-or-later
# What is hot, once for each level of x86-64, and chosen at start; one build for all where that cannot be had.
#
# Templates are a trap here: the linker keeps one copy of an inline function, and it may be the one with instructions
# that the machine lacks. So each level is linked into one object first, in which nothing but its entry stays global.
set(ROPEWALK_KERNEL_SOURCES
  kernels/decay_run.cpp
  kernels/fused.cpp
  kernels/pooled_product_run.cpp
  kernels/table.cpp
  kernels/tile_run.cpp
  kernels/toeplitz_run.cpp
)
# Only here do products and sums become one: they are most of the work.
set_source_files_properties(kernels/fused.cpp PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast")
# The compiler's own AVX-512 intrinsics start from "undefined" values, about which g++ 12 warns.
set(ROPEWALK_KERNEL_OPTIONS -fno-math-errno -fno-trapping-math -Wno-psabi -Wno-unknown-pragmas
  -Wno-maybe-uninitialized -Wno-uninitialized)
if(NOT ROPEWALK_SANITIZE)
  list(APPEND ROPEWALK_KERNEL_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endif()

function(ropewalk_may_build_cpu_levels result)
  set(${result} OFF PARENT_SCOPE)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" OR NOT CMAKE_OBJCOPY OR NOT CMAKE_LINKER)
    return()
  endif()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-march=x86-64-v4 -fno-gnu-unique")
  check_cxx_source_compiles("int main() { return __builtin_cpu_supports(\"x86-64-v4\"); }" ROPEWALK_HAS_X86_64_LEVELS)
  execute_process(COMMAND ${CMAKE_LINKER} --help OUTPUT_VARIABLE help ERROR_QUIET)
  if(ROPEWALK_HAS_X86_64_LEVELS AND help MATCHES "force-group-allocation")
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# Adds the kernels to `target`, a library of this folder.
function(ropewalk_add_kernels target)
  ropewalk_may_build_cpu_levels(has_levels)
  add_feature_info(cpu-levels "${has_levels}" "kernels for x86-64-v2, -v3 and -v4, chosen at start")
  if(NOT has_levels)
    target_sources(${target} PRIVATE ${ROPEWALK_KERNEL_SOURCES})
    foreach(source IN LISTS ROPEWALK_KERNEL_SOURCES)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "${ROPEWALK_KERNEL_OPTIONS}")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS ROPEWALK_KERNEL_LEVEL=Generic)
    endforeach()
    return()
  endif()
  target_compile_definitions(${target} PRIVATE ROPEWALK_CPU_LEVELS)
  foreach(number IN ITEMS 2 3 4)
    set(library ${target}_kernels_v${number})
    add_library(${library} OBJECT ${ROPEWALK_KERNEL_SOURCES})
    target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${library} PRIVATE ropewalk_flags ropewalk_eigen)
    target_compile_definitions(${library} PRIVATE ROPEWALK_KERNEL_LEVEL=V${number})
    target_compile_options(${library} PRIVATE ${ROPEWALK_KERNEL_OPTIONS}
      -march=x86-64-v${number} -fno-gnu-unique -fvisibility=hidden)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${library}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:${library}>
      COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=_ZN8ropewalk12cpuKernelsV${number}Ev ${object}
      DEPENDS ${library} $<TARGET_OBJECTS:${library}>
      COMMENT "Linking the kernels for x86-64-v${number} into one object"
      COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${target} PRIVATE ${object})
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  endforeach()
endfunction()
