"""What the command keeps from run to run, so that it starts sooner: compiled modules and regular expressions."""
