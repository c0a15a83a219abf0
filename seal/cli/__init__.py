"""The command line: `seal VERB ...`."""

from seal.cli.dispatch import main

__all__ = ["main"]
