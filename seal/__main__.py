"""`python -m seal`: the same as the command `seal`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder: its files would be imported in place of libraries
    from seal.cli.dispatch import main

    sys.exit(main())
