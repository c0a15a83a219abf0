"""KEY=VALUE options, and the options that several verbs share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer

from seal.cli.groups import argument, flag, option, repeated
from seal.core import UsageError
from seal.core.registry import check_modules
from seal.core.secrets import refuse_secret

CacheMode = Literal["record", "replay", "off"]


def new_app(help: str = "") -> typer.Typer:
    """Return an empty app for a verb: plain help, errors left to `seal.cli.failure`."""
    return typer.Typer(
        help=help,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


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
    except ValueError:
        return text


def judges(flag: str, words: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the judges of a repeated flag; None where nobody is named."""
    return tuple(words or ()) or None


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


AGENT = option(None, "Same as --role ROLE=AGENT, for this role.", setting="roles")
BASE_URL = option(
    None,
    "Address of the server of --model, also for roles without a model of their own. "
    "Other models take it in their name: MODEL,base_url=URL.",
)
ON = option(None, "Run on the nodes of a Ray cluster: that of this machine, or of RAY_ADDRESS.")
CACHE_DIR = option(
    None, "Folder for cached answers and indexes.  [default: SEAL_CACHE_DIR, else the user's cache]"
)
CACHE_URL = option(
    None, "Database for cached answers: postgresql://USER@HOST/DATABASE.  [default: SEAL_CACHE_URL]"
)
JUDGE = option(
    "auto",
    "Who decides what is solved: rule, llm, auto (llm if a judge's model is named, else "
    "rule), or published judges, by commas: pass_paper, tooleval, sopr, fac. A world's "
    "milestones go before pass_paper.",
)
VOTES = option(None, "Number of votes of each judge's model on a goal.  [default: as published]")
WITHOUT_SPOILT = flag("Leave out of the scores every chat whose simulated user made an error.")
MODEL_OPTIONS = repeated(
    "Option of --model, also for roles without a model of their own; repeatable. Other "
    "models take it in their name: MODEL,KEY=VALUE.",
    "--model-option",
    "-M",
    metavar="KEY=VALUE",
    read=typed_pairs,
    setting="model_options",
)
RETRIEVER_OPTIONS = repeated(
    "Option for every retriever that has it; repeatable.",
    "--retriever-option",
    "-R",
    metavar="KEY=VALUE",
    read=typed_pairs,
    setting="retriever_options",
)
METRICS = repeated(
    "Metric beside the usual ones: a family (calls), a score (recall@20) or "
    "module:attribute; repeatable.",
    "--metric",
    metavar="NAME",
    setting="metrics",
)


def modules(name: str, words: list[str] | None) -> tuple[str, ...]:
    """Return modules that can be found.

    Raises:
        OptionError: There is no such module.
    """
    check_modules(words or ())
    return tuple(words or ())


ALLOW_CODE = repeated(
    "Module whose code a pool, run or scenario may name; repeatable.",
    "--allow-code",
    metavar="MODULE",
    read=modules,
)
SIMULATOR = option(
    "template",
    "What answers calls of simulated tools: template, llm, recorded, stabletoolbench "
    "(what `seal cache import` read) or module:attribute. Several are asked in turn: "
    "stabletoolbench+template.",
)
CUTOFFS = option(
    "1,5,10",
    "Values of K for recall@K and similar metrics.",
    "--cutoffs",
    "-k",
    read=numbers,
    setting="k",
)
SELECT = repeated(
    "Take only tasks with this tag, or with id=ID; * matches any text. Repeatable.",
    metavar="TAG=VALUE",
    read=pairs,
)
SEED = option(0, "Seed of everything that is drawn at random.")
POOL = argument("Name of a shipped benchmark, or folder of an imported one.", metavar="NAME|DIR")
NEW_FOLDER = option(..., "Folder to write; the command that began it continues there.")
POOL_NAME = option("", "Name of the new pool.  [default: that of its folder]")
WRITER = option(None, "Model that writes, as PROVIDER/MODEL.  [default: a grammar]")
JSON = flag("Print one JSON object and nothing else.")


@dataclass(frozen=True, kw_only=True)
class ServersElsewhere:
    """MCP servers: those whose tools are imported, or called in mcp."""

    url: tuple[str, ...] = repeated(
        "Address of an MCP server; repeatable.", metavar="[NAME=]URL", setting="servers"
    )
    config: Path | None = option(
        None, "File that lists MCP servers, such as mcp.json.", metavar="FILE", setting="servers"
    )

    def named(self, commands: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the servers by name, as `RunSettings.servers` takes them."""
        if not (commands or self.url or self.config):
            return {}
        from seal.environments.mcp_servers import named_servers

        return named_servers(commands, self.url, self.config)


@dataclass(frozen=True, kw_only=True)
class Servers(ServersElsewhere):
    """MCP servers: those whose tools are imported, or called in mcp."""

    stdio: tuple[str, ...] = repeated(
        "Command that starts an MCP server; repeatable.",
        metavar="[NAME=]COMMAND",
        setting="servers",
    )

    def named(self, commands: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the servers by name, those that are commands too."""
        return super().named((*self.stdio, *commands))


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Pools and sweeps: which pools are drawn, and what they are asked."""

    samples: int = option(10, "Number of pools to draw of each size.")
    distractors: str = option(
        "uniform",
        "Which further tools fill a drawn pool.",
        words=Literal["uniform", "same-tool", "nearest"],
        read=_underscored,
    )
    queries_in: Literal["closure", "seeds", "fixed"] = option(
        "closure",
        "What a drawn pool is asked: all queries that it can answer (closure), those that it "
        "was drawn for (seeds), or the same at every size (fixed).",
    )
    nested: bool = option(True, "Let the larger pools of a sample contain its smaller ones.")
    queries: int | None = option(
        None, "Number of queries to draw from each pool, so that all pools count alike."
    )
