"""The command `tilewright`: one module for each subcommand, one table of options."""
