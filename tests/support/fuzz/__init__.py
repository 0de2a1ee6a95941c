"""A fuzzer: damaged files and odd values, each case in a child process with limits of time and memory.

A case ends in a result that is right, as far as that can be known, or in an error of one sentence. Anything else is a
fault: another exception, a result that is wrong, a crash of the process, a hang, memory beyond the limit.

    python -m support.fuzz.runner                   all of it, in tests/
    python -m support.fuzz.runner "labels" 17       one case again
"""
