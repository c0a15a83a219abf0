"""The verbs of this installation: doctor and completion."""

import os
import platform
import re
import shutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Literal

from seal.cli.groups import argument, verb
from seal.cli.options import JSON
from seal.cli.output import output
from seal.cli.shell import complete

# -- Tell what is installed and set here: extras, keys, servers, caches, room on the disk.

_DISTRIBUTION = "seal-api-llms"
_DEVELOPED = {"test", "dev"}
"""Extras that no user needs."""
_NEEDED = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?[^;]*; extra == ['\"](?P<extra>[\w-]+)['\"]")


@verb("doctor")
def doctor_command(json: bool = JSON) -> int:
    """Tell what is installed and set here. No server is asked; `seal models check` asks them."""
    from seal.core.files import cache_folder
    from seal.report.grids import Grid

    folders = {"answers": cache_folder(), "here": Path.cwd(), "SEAL_DATA": _data()}
    found: dict[str, dict[str, str]] = {
        "seal": {"version": metadata.version(_DISTRIBUTION), "python": _python()},
        "extra": dict(_extras()),
        "key": dict(_keys()),
        "endpoint": dict(_endpoints()),
        "folder": {name: _room(folder) for name, folder in folders.items()},
    }
    with output(json) as result:
        result.result(found)
        rows = [[part, name, told] for part, of in found.items() for name, told in of.items()]
        result.show(Grid("", ["part", "name", "what is there"], rows, names=3))
    return 0


def _python() -> str:
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def _data() -> Path | None:
    named = os.environ.get("SEAL_DATA")
    return Path(named) if named else None


def _extras() -> Iterator[tuple[str, str]]:
    """Yield each extra with what is missing of it."""
    missing: dict[str, list[str]] = {}
    for needed in map(_NEEDED.fullmatch, metadata.requires(_DISTRIBUTION) or ()):
        if needed is not None and needed["extra"] not in _DEVELOPED:
            lacks = missing.setdefault(needed["extra"], [])
            if not _is_there(needed["name"]):
                lacks.append(needed["name"])
    for extra, names in missing.items():
        yield extra, f"missing: {', '.join(names)}" if names else "installed"


def _is_there(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _keys() -> Iterator[tuple[str, str]]:
    """Yield the variables of providers' keys, and whether they are set; never a key."""
    from seal.models.spec import endpoints

    named = (str(one["key_env"]) for one in endpoints().values() if "key_env" in one)
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", *named):
        yield variable, "set" if os.environ.get(variable) else "not set"


def _endpoints() -> Iterator[tuple[str, str]]:
    from seal.models.spec import endpoints

    for name, options in endpoints().items():
        yield name, str(options.get("base_url", "the provider's own address"))


def _room(folder: Path | None) -> str:
    """Return a folder with the room that is left on its disk."""
    if folder is None:
        return "not set"
    there = next((path for path in (folder, *folder.parents) if path.is_dir()), Path())
    absent = "" if folder.is_dir() else "not there yet, "
    return f"{folder} ({absent}{shutil.disk_usage(there).free / 1e9:,.1f} GB free)"


# -- Print the script by which bash, zsh or fish completes the words after `seal`.


@verb("completion")
def completion_command(
    shell: Literal["bash", "zsh", "fish"] = argument("Your shell.", metavar="SHELL"),
) -> int:
    """Print a script: eval "$(seal completion bash)" in ~/.bashrc, or in ~/.zshrc with zsh.

    For fish: seal completion fish > ~/.config/fish/completions/seal.fish
    """
    return complete(f"source_{shell}")
