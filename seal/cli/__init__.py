"""The command line: `seal VERB ...`."""

from seal.cli.dispatch import main
from seal.lazy import give_names

give_names(__name__)

__all__ = ["main"]
