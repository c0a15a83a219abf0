"""Print the script by which bash, zsh or fish completes the words after `seal`."""

from typing import Literal

from seal.cli.groups import argument, verb
from seal.cli.shell import complete


@verb("completion")
def completion_command(
    shell: Literal["bash", "zsh", "fish"] = argument("Your shell.", metavar="SHELL"),
) -> int:
    """Print a script: eval "$(seal completion bash)" in ~/.bashrc, or in ~/.zshrc with zsh.

    For fish: seal completion fish > ~/.config/fish/completions/seal.fish
    """
    return complete(f"source_{shell}")
