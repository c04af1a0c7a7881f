"""`python -m codegen` is the command `tilewright`."""
import sys

from codegen.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
