# Sassan: bounds of GPU code after it is compiled.
#
#   execute_process(COMMAND python3 -m sassan.integrations.cmake OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
#   list(APPEND CMAKE_MODULE_PATH "${folder}")
#   include(Sassan)
#
#   sassan_analyze(TARGET [FILES FILE…] [OPTIONS OPTION…])
#       Runs `sassan analyze` over what the target builds (an executable, a library, the objects of an object library), or over FILES, which the
#       target makes. The bounds are printed; nothing that sassan says fails the build.
#   sassan_check(TARGET [FILES FILE…] [OPTIONS OPTION…])
#       Runs `sassan check`, with gates such as --require-bounded --max-wcet 5000; a gate that fails, or that cannot be judged, fails the build.
#
# SASSAN_EXECUTABLE names the program. Before it, the folder of CMAKE_CUDA_COMPILER is added to PATH: toolkits keep their disassemblers there.

# Run as a script, `cmake -P Sassan.cmake`, this file does what the functions below put into the build.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  if(SASSAN_TOOLS)
    if(CMAKE_HOST_WIN32)
      set(ENV{PATH} "$ENV{PATH};${SASSAN_TOOLS}")
    else()
      set(ENV{PATH} "$ENV{PATH}:${SASSAN_TOOLS}")
    endif()
  endif()
  # `cmake … -P Sassan.cmake -- COMMAND ARGUMENT…`: what stands behind the two dashes is for sassan.
  set(arguments "")
  set(reached FALSE)
  math(EXPR last "${CMAKE_ARGC} - 1")
  foreach(index RANGE ${last})
    if(reached)
      list(APPEND arguments "${CMAKE_ARGV${index}}")
    elseif(CMAKE_ARGV${index} STREQUAL "--")
      set(reached TRUE)
    endif()
  endforeach()
  execute_process(COMMAND "${SASSAN_EXECUTABLE}" ${arguments} RESULT_VARIABLE status)
  list(GET arguments 0 what)
  if(NOT status STREQUAL "0" AND what STREQUAL "check")
    message(FATAL_ERROR "sassan check ended with status ${status}")
  endif()
  return()
endif()

find_program(SASSAN_EXECUTABLE sassan DOC "The program sassan: pip install sassan")
set(_sassan_script "${CMAKE_CURRENT_LIST_FILE}")

function(_sassan_after target command)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FILES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sassan_${command}: what is '${arg_UNPARSED_ARGUMENTS}'? Write FILES or OPTIONS before it")
  endif()
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "sassan_${command}: there is no target '${target}'")
  endif()
  if(NOT SASSAN_EXECUTABLE)
    message(FATAL_ERROR "sassan_${command}: the program sassan was not found: pip install sassan, or set SASSAN_EXECUTABLE")
  endif()
  set(tools "")
  if(CMAKE_CUDA_COMPILER)
    get_filename_component(tools "${CMAKE_CUDA_COMPILER}" DIRECTORY)
  endif()
  get_target_property(type "${target}" TYPE)
  set(files ${arg_FILES})
  if(NOT files AND type STREQUAL "OBJECT_LIBRARY")
    set(files "$<TARGET_OBJECTS:${target}>")
  elseif(NOT files AND NOT type STREQUAL "UTILITY")
    set(files "$<TARGET_FILE:${target}>")
  endif()
  if(NOT files)
    message(FATAL_ERROR "sassan_${command}: '${target}' builds no file by itself: name them after FILES")
  endif()
  set(run "${CMAKE_COMMAND}" "-DSASSAN_EXECUTABLE=${SASSAN_EXECUTABLE}" "-DSASSAN_TOOLS=${tools}" -P "${_sassan_script}" --
          ${command} --quiet ${arg_OPTIONS} ${files})
  if(type STREQUAL "OBJECT_LIBRARY" OR type STREQUAL "UTILITY")
    # They take no commands of their own after a build: a target of its own follows them.
    string(MAKE_C_IDENTIFIER "${target}_sassan_${command}" name)
    add_custom_target("${name}" ALL COMMAND ${run} COMMENT "sassan ${command} of ${target}" VERBATIM COMMAND_EXPAND_LISTS)
    add_dependencies("${name}" "${target}")
  else()
    add_custom_command(TARGET "${target}" POST_BUILD COMMAND ${run} COMMENT "sassan ${command} of ${target}" VERBATIM COMMAND_EXPAND_LISTS)
  endif()
endfunction()

function(sassan_analyze target)
  _sassan_after("${target}" analyze ${ARGN})
endfunction()

function(sassan_check target)
  _sassan_after("${target}" check ${ARGN})
endfunction()
