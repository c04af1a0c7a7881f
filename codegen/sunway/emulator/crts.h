/* The SW26010-Pro's own interface for the host emulator: both machines' compute cores have one header here. */
#include "slave.h"
