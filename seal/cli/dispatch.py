"""From the command line's words to a verb, and from its outcome to an exit code."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper

from seal.cli.verbs import GROUPS, VERBS, load

_REFUSED = re.compile(r"Input should be a valid (integer|number|boolean).*|Value error, ")
"""How the library below the command line refuses a word: of no type, or none of several."""

_OF_A_FLAG = re.compile(r"--([a-z][a-z-]*) ")
"""Begins what is said of a value that a setting refuses."""

_ANY_PATH = ("utf-8", "surrogateescape")
"""Encoding and errors of a stream that writes every letter, and names of files as they are."""

_HELP = """\
Usage: seal VERB [OPTIONS] ...

Evaluate language models and agents that use tools.

{verbs}

  seal run             plays the shipped sample offline: no key, no server
  seal VERB --help     what a verb takes
  seal --version       the installed version
  --debug              with any verb: a traceback where it fails

Settings come from flags, then the environment (--top-k: SEAL_TOP_K), then seal.toml in the working
folder (top-k = 5).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: Words after `seal`; None: those of this process.

    Returns:
        0 fine, 1 finished with task errors or the infrastructure failed, 2 usage or data error,
        3 budget stop, 130 interrupted, 143 ended by SIGTERM, 129 ended by SIGHUP.
    """
    if "_SEAL_COMPLETE" in os.environ:  # a shell asks what may follow some words
        from seal.cli.groups import VARIABLE, complete

        return complete(os.environ[VARIABLE])
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before: `seal ... >&-`
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper) and (stream.encoding, stream.errors) != _ANY_PATH:
            stream.reconfigure(errors="backslashreplace")  # LANG=C knows no letter beyond ASCII
    words, debug = _take_debug(list(sys.argv[1:] if arguments is None else arguments))
    text = _asked_alone(words)
    if text:
        with suppress(OSError):  # told below, by what a help that can be printed need not load
            return _print(text)
    try:
        from seal.cli.failure import reported, unforeseen
    except KeyboardInterrupt:  # nothing is begun yet, and nothing there to tell it better
        sys.stderr.write("seal: interrupted\n")
        return 130

    sys.excepthook = unforeseen(debug)
    return reported(lambda: _print(text) if text else _call(words[0], words[1:]), debug, words)


def _asked_alone(words: Sequence[str]) -> str:
    """Return what no verb prints: the help, the version; else an empty text."""
    if not words or words[0] in ("--help", "-h"):
        return _help()
    if words[0] == "--version":
        import seal

        return f"seal {seal.__version__}\n"
    return ""


def _print(text: str) -> int:
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _call(verb: str, words: list[str]) -> int:
    if verb.startswith("-"):
        from seal.core import UnknownNameError

        raise UnknownNameError("option", verb, ("--debug", "--help", "--version"))
    app = load(verb, "".join(words[:1]))
    import typer
    from typer.main import get_command

    from seal.cli.config import Config, long_name
    from seal.cli.failure import tell
    from seal.cli.words import FORMER
    from seal.core import UsageError

    command = get_command(app)
    config = Config.read()
    for warning in config.warnings():
        tell(warning)
    try:
        # Not command.main(), which turns an interruption into a silent exit.
        defaults = config.defaults(command)
        with command.make_context(f"seal {verb}", words, default_map=defaults) as context:
            outcome = command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except UsageError as error:
        named = _OF_A_FLAG.match(str(error))
        origin = config.origin(named[1]) if named else config.origin_of_quoted(str(error))
        if origin:
            error.args = (f"{str(error).rstrip('.')}.{origin}",)
        raise
    except typer.TyperException as error:
        parameter = getattr(error, "param", None)
        origin = config.origin(None if parameter is None else long_name(parameter))
        text = _REFUSED.sub(_expected, error.format_message()).replace("\n\t", " ").rstrip(".")
        stop = "" if text.endswith("?") else "."
        at = getattr(error, "ctx", None)
        path = at.command_path if at else f"seal {verb}"
        commands = ", ".join(getattr(at and at.command, "commands", ()))
        known = f" Commands: {commands}." if commands else ""
        former = str(getattr(error, "option_name", ""))
        if former.removeprefix("--") in FORMER:
            text, stop = f"No such option: {former} {FORMER[former.removeprefix('--')]}", "."
        if verb == "generate":
            from seal.pools.declarations import check_former

            check_former("".join(words[:1]))
        raise UsageError(f"{text}{stop}{known}{origin} See `{path} --help`.") from error
    return outcome if isinstance(outcome, int) else 0


def _take_debug(words: list[str]) -> tuple[list[str], bool]:
    """Return the words without `--debug`, which may stand anywhere before `--`."""
    end = words.index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word != "--debug"]
    return kept + words[end:], len(kept) < end


def _expected(refused: re.Match[str]) -> str:
    kinds = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
    return f"expected {kinds[refused[1]]}" if refused[1] else ""


def _help() -> str:
    width = max(map(len, VERBS))
    groups = (
        "\n".join([f"{title}:", *(f"  {name:{width}}  {one.about}" for name, one in group.items())])
        for title, group in GROUPS.items()
    )
    return _HELP.format(verbs="\n\n".join(groups))
