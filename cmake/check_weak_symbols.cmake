# Fails when an object of OBJECTS defines a weak symbol (nm types W, V, u): see its caller for why.
foreach(object IN LISTS OBJECTS)
    execute_process(COMMAND ${NM} --defined-only -C ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]* [WVuvw] [^\n]*" weak "${symbols}")
    if(weak)
        list(JOIN weak "\n  " weak)
        message(FATAL_ERROR "${object} shares functions with other objects; "
            "keep them out of the kernels or in a namespace of SIMPLIPY_ISA:\n  ${weak}")
    endif()
endforeach()
