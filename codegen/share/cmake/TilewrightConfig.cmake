# find_package(Tilewright), then
#
#   add_executable(app main.c)
#   tilewright_generate(app SOURCES smooth.c OPTIONS --machine native)
#
# generates smooth.tw.c in the build folder and adds it to the target; C++ sources keep their ending, too. Include
# folders and definitions of the target reach the generator, and so do compile options that are no generator
# expressions. Tilewright_COMMAND, a list, may be set to run another
# tilewright.

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(Tilewright_FOUND FALSE)
  set(Tilewright_NOT_FOUND_MESSAGE "Tilewright needs CMake 3.20 or newer, for DEPFILE with every generator")
  return()
endif()

if(NOT Tilewright_COMMAND)
  # Beside this package when it was installed with it: PREFIX/share/cmake/Tilewright, or inside the Python package.
  find_program(Tilewright_EXECUTABLE tilewright
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin" "${CMAKE_CURRENT_LIST_DIR}/../../../../../../bin")
  if(NOT Tilewright_EXECUTABLE)
    set(Tilewright_FOUND FALSE)
    set(Tilewright_NOT_FOUND_MESSAGE "the command tilewright is not on PATH; set Tilewright_COMMAND")
    return()
  endif()
  set(Tilewright_COMMAND "${Tilewright_EXECUTABLE}")
endif()

function(tilewright_generate target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;OPTIONS")
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "tilewright_generate: '${target}' is not a target")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_generate: unexpected '${arg_UNPARSED_ARGUMENTS}'; name files after SOURCES")
  endif()
  set(folders "$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>")
  set(macros "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(compilers)
  if(CMAKE_C_COMPILER)
    list(APPEND compilers "CC=${CMAKE_C_COMPILER}")
  endif()
  if(CMAKE_CXX_COMPILER)
    list(APPEND compilers "CXX=${CMAKE_CXX_COMPILER}")
  endif()
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE input)
    cmake_path(RELATIVE_PATH input BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE inside)
    string(REPLACE ".." "__" inside "${inside}")
    cmake_path(GET inside EXTENSION LAST_ONLY ending)
    cmake_path(REMOVE_EXTENSION inside LAST_ONLY)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/tilewright/${target}/${inside}.tw${ending}")
    cmake_path(GET input PARENT_PATH input_folder)
    cmake_path(GET output PARENT_PATH output_folder)
    file(MAKE_DIRECTORY "${output_folder}")
    # Flags that change the meaning of C; those in generator expressions are for OPTIONS.
    set(language CXX)
    if(ending STREQUAL ".c")
      set(language C)
    endif()
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}}")
    get_target_property(own "${target}" COMPILE_OPTIONS)
    if(own)
      list(APPEND flags ${own})
    endif()
    list(FILTER flags INCLUDE REGEX "^-(f|m|std=|Ofast)")
    # A result that did not change keeps its time. Ninja knows how to deal with that; make would ask again each time.
    set(touch)
    if(NOT CMAKE_GENERATOR MATCHES "Ninja")
      set(touch COMMAND "${CMAKE_COMMAND}" -E touch "${output}")
    endif()
    add_custom_command(
      OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" -E env ${compilers}
        ${Tilewright_COMMAND} gen --line
        "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>" "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>"
        ${flags} ${arg_OPTIONS} "${input}" -o "${output}" -MD -MF "${output}.d"
      ${touch}
      DEPENDS "${input}"
      DEPFILE "${output}.d"
      COMMENT "tilewright ${inside}${ending}"
      COMMAND_EXPAND_LISTS
      VERBATIM)
    # The generated file lies elsewhere; headers in quotes are still looked for beside the original.
    set_property(SOURCE "${output}" APPEND PROPERTY INCLUDE_DIRECTORIES "${input_folder}")
    target_sources("${target}" PRIVATE "${output}")
  endforeach()
endfunction()
