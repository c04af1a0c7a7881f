"""What the command's exit status means; scripts and build systems rely on these."""
OK = 0
BAD_INPUT = 1
BAD_COMMAND_LINE = 2
REFUSED = 3
DIFFERENT = 4
INTERNAL = 70
INTERRUPTED = 130  # as a shell reports a process ended by SIGINT
BROKEN_PIPE = 141  # as a shell reports a process ended by SIGPIPE
