"""How settings are typed: words of the command line to values, and the names of flags."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import typer

from seal.core import UsageError
from seal.core.registry import check_modules
from seal.core.secrets import refuse_secret
from seal.core.text import THEIRS


def pairs(flag: str, words: Iterable[str] | None) -> dict[str, str]:
    """Return the KEY=VALUE words of a repeated flag as a mapping.

    Raises:
        UsageError: A word has no `=` or no key, or is a service's key; or a key has two values.
    """
    found: dict[str, str] = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            of_task = f", such as id={word}" if flag == "--select" else ""
            raise UsageError(f"{flag} {word!r}: expected KEY=VALUE{of_task}")
        refuse_secret(key.strip(), value, flag)
        if found.setdefault(key.strip(), value) != value:
            raise UsageError(f"{flag} {key.strip()} is given twice, with two values; keep one")
    return found


def role_models(flag: str, words: Iterable[str] | None) -> dict[str, Any]:
    """Return the models of roles; a judge that is named again sits beside the first.

    Raises:
        UsageError: A word has no `=` or no key, or is a service's key.
    """
    named = [(word, pairs(flag, [word])) for word in words or ()]
    judges = tuple(model["judge"] for _, model in named if "judge" in model)
    found: dict[str, Any] = dict(pairs(flag, [w for w, model in named if "judge" not in model]))
    return found | ({"judge": judges if len(judges) > 1 else judges[0]} if judges else {})


def seats(flag: str, words: Iterable[str] | None) -> dict[str, str | None]:
    """Return the agents of roles; `none` leaves a role empty.

    Raises:
        UsageError: As `pairs` raises.
    """
    return {role: None if agent == "none" else agent for role, agent in pairs(flag, words).items()}


def prompts(flag: str, words: Iterable[str] | None) -> dict[str, str | Path]:
    """Return the prompts of roles as files; the word `theirs` is none.

    Raises:
        UsageError: As `pairs` raises.
    """
    told = pairs(flag, words).items()
    return {role: file if file == THEIRS else Path(file) for role, file in told}


def servers(flag: str, words: Iterable[str] | None) -> dict[str, Any]:
    """Return MCP servers by name, as `RunSettings.servers` takes them.

    Raises:
        SealError: As `named_servers` raises.
    """
    if not words:
        return {}
    from seal.environments.mcp_servers import named_servers

    return named_servers(tuple(words))


def typed_pairs(flag: str, words: Iterable[str] | None) -> dict[str, Any]:
    """Return KEY=VALUE words with each value read as JSON where it is JSON, else as text.

    Raises:
        UsageError: A word has no `=` or no key, or is or holds a service's key.
    """
    found = {key: _value(text) for key, text in pairs(flag, words).items()}
    refuse_secret("", found, flag)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def choice(names: Iterable[str]) -> Any:
    """Return the type of a word that is one of some names, which are sorted in the help."""
    return Literal.__getitem__(tuple(sorted(names)))


def several(flag: str, words: Iterable[str] | None) -> tuple[str, ...]:
    """Return the words of a repeated flag."""
    return tuple(words or ())


def retriever_specs(flag: str, words: Iterable[str] | None) -> tuple[str, ...]:
    """Return the retrievers of a repeated flag, of which each word names one or several."""
    from seal.retrievers.base import NOTATION

    return tuple(spec for word in words or () for spec in NOTATION.several(word))


def judges(flag: str, words: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the judges of a repeated flag; None where nobody is named."""
    return tuple(words or ()) or None


def chosen(names: tuple[str, ...], flag: str, text: str) -> tuple[str, ...]:
    """Return the words of a comma-separated list, each once; `all` alone stands for all names."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    return names if words == ("all",) else words


def numbers(flag: str, text: str) -> tuple[int, ...]:
    """Return the whole numbers of a comma-separated list, ascending, each once.

    Raises:
        UsageError: An item is no whole number above 0.
    """
    items = [item.strip() for item in text.split(",") if item.strip()]
    if not items or not all(item.isdecimal() and int(item) > 0 for item in items):
        raise UsageError(f"{flag} {text!r}: expected whole numbers above 0, such as 1,5,10")
    return tuple(sorted({int(item) for item in items}))


def sizes(flag: str, text: str | None) -> tuple[int | Literal["all"], ...] | None:
    """Return the sizes of a comma-separated list, ascending, each once; `all` stands last.

    None, where no list is given, stays None.

    Raises:
        UsageError: An item is neither `all` nor a whole number above 0.
    """
    if text is None:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    counts = ",".join(word for word in words if word != "all")
    found = numbers(flag, counts) if counts or not words else ()
    return (*found, "all") if "all" in words else found


def count_or_name(flag: str, text: str) -> int | str:
    """Return a whole number, or a text that is none as it is."""
    return int(text) if text.isdecimal() else text


def new_file(flag: str, path: Path | None) -> Path | None:
    """Return the path of a file that is about to be written; None stays None.

    Raises:
        UsageError: A file or folder is there already.
    """
    if path is not None and (path.is_file() or path.is_dir()):
        raise UsageError(f"{path} is there already, and is not replaced; give {flag} a new file")
    return path


def _underscored(flag: str, name: str) -> str:
    return name.replace("-", "_")


def modules(name: str, words: list[str] | None) -> tuple[str, ...]:
    """Return modules that can be found.

    Raises:
        OptionError: There is no such module.
    """
    check_modules(words or ())
    return tuple(words or ())


def several_whole(text: str) -> tuple[int, ...]:
    """Return the whole numbers of a comma-separated list, in its order.

    Raises:
        BadParameter: An item is none.
    """
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r}: expected a whole number, or several such as 1,5,10"
        ) from error


def one_whole(text: str) -> int:
    """Return a whole number.

    Raises:
        BadParameter: It is none, or several; names the verb that takes them.
    """
    try:
        return int(text)
    except ValueError as error:
        several = "; `seal sweep` takes several" if "," in text else ""
        raise typer.BadParameter(f"{text!r}: expected a whole number{several}") from error


FORMS: Mapping[str, Mapping[str, Any]] = {
    "allow_code": {"metavar": "MODULE", "read": modules},
    "cutoffs": {"read": numbers},
    "distractors": {"words": Literal["uniform", "same-tool", "nearest"], "read": _underscored},
    "environment": {"metavar": "NAME"},
    "held_out": {"metavar": "DIR"},
    "judge_model": {"metavar": "MODEL", "read": judges},
    "k": {"names": ("--cutoffs", "-k"), "read": numbers},
    "metrics": {"names": ("--metric",), "metavar": "NAME"},
    "model": {"metavar": "MODEL[,KEY=VALUE...]"},
    "model_options": {"names": ("--model-option", "-M"), "metavar": "KEY=VALUE"},
    "negatives_by": {"metavar": "NAME[,KEY=VALUE...]"},
    "one_shot": {"names": ("--one-shot/--zero-shot",)},
    "options": {"names": ("--retriever-option", "-R"), "metavar": "KEY=VALUE"},
    "pool": {"metavar": "[NAME|DIR]"},
    "pool_sizes": {"read": sizes},
    "prices": {"metavar": "FILE"},
    "processes": {"metavar": "N|ray[:N]", "words": str, "read": count_or_name},
    "retriever_options": {"names": ("--retriever-option", "-R"), "metavar": "KEY=VALUE"},
    "resamples": {"least": 1},
    "prompts": {"names": ("--prompt",), "metavar": "ROLE=FILE", "read": prompts},
    "role_models": {
        "names": ("--role-model",),
        "metavar": "ROLE=MODEL[,KEY=VALUE...]",
        "read": role_models,
    },
    "roles": {"names": ("--role",), "metavar": "ROLE=AGENT", "read": seats},
    "select": {"metavar": "TAG=VALUE"},
    "servers": {
        "names": ("--server",),
        "metavar": "[NAME=]COMMAND|[NAME=]URL|FILE",
        "read": servers,
    },
    "success": {"metavar": "METRIC"},
    "verdicts": {"metavar": "PATH"},
    "world_options": {"names": ("--world-option", "-T"), "metavar": "KEY=VALUE"},
}
"""Setting to how it is typed, where that does not follow from its name and type."""

_SWEPT = "is an option of `seal sweep`"
FORMER: Mapping[str, str] = {
    "agent-command": "is now --agent bridge:COMMAND",
    "agent-url": "is now --agent bridge:URL",
    "baselines-alike": "is gone: rules judge floor and ceiling, and the template simulates",
    "cache-url": "is now the variable SEAL_CACHE_URL, for it may hold a password",
    "checker": "is now --role checker=AGENT",
    "config": "is now --server FILE",
    "distractors": _SWEPT,
    "errata": "is gone: score a run of a copy of the pool whose gold is mended",
    "force-simulator": "is gone: gold calls are answered by what was recorded",
    "history-policy": "is gone: a goal ends when its prompt does not fit",
    "hooks": "is gone: `seal view` and `seal serve` show a running run, and in Python `seal.run` "
    "returns what a tracker keeps",
    "nested": _SWEPT,
    "no-nested": _SWEPT,
    "on": "is now --processes ray",
    "on-policy": "is gone: -T decisions=own plays DialogTool by the model's own decisions",
    "perturb": "is gone: `seal augment` scrambles tools; a pool of your own asks in other words",
    "planner": "is now --role planner=AGENT",
    "preferences": "is gone: --win-rate asks a judge, or compares the verdicts of both runs",
    "pool-sizes": _SWEPT,
    "queries": _SWEPT,
    "queries-in": _SWEPT,
    "run": "is gone from `seal benchmarks`: `seal paper toolsandbox RUN` tells turns and calls",
    "samples": _SWEPT,
    "shard": "is gone: --workers and --processes use one machine, --processes ray many",
    "speaker-selection": "is now -T selection=auto",
    "stdio": "is now --server COMMAND",
    "style": "is now --role execution_manager=react",
    "tool-messages": "is now --format native-text",
    "tools": "is now -T tools=created",
    "url": "is now --server URL",
    "user": "is now --role user_simulator=AGENT",
    "verifier": "is now --role verifier=AGENT",
}
"""Former flag, without its dashes, to what became of it."""
