"""`python -m seal`: the same as the command `seal`."""

import sys

from seal.cli import main

if __name__ == "__main__":
    sys.exit(main())
