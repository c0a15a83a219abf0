"""What strangers write: long texts, patterns, schemas of every dialect, numbers, damaged stores."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from hostile_lab import Lab, Tried, broken_by, here

import seal
from seal.core import SealError
from seal.core.schema_keywords import matches
from seal.core.store import open_store

SIGNS = (
    *(" ", "\n", "'", '"', "1.", "1,", "[", "{", "(", '{"a":', "a ", "a_", "a-", "\n- ", "`"),
    *("```\n", "<think>", "Action:", "Action Input:", "word, ", "Rome and ", "[look(", "\u2019"),
)
"""What is repeated in a text that is slow to read."""
LENGTHS = (1_000, 20_000, 200_000)


def strange_text(chance: Random) -> str:
    """Return a text of one or two things, over and over."""
    parts = [chance.choice(SIGNS) * chance.randint(1, 3) for _ in range(chance.randint(1, 2))]
    length = chance.choice(LENGTHS)
    return (chance.choice(("", "Rome ", "[", '"')) + "".join(parts) * length)[:length]


def texts(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Let an agent say and ask with texts that are slow to read: its chat is played and scored."""
    for number in range(count):
        said, asked = strange_text(chance), strange_text(chance)
        told = f"{number}: {said[:12]!r} x {len(said)}, {asked[:12]!r} x {len(asked)}"
        yield Tried(told, broken_by(partial(_spoken, lab.clear() / "run", said, asked, {})))


def _spoken(out: Path, said: str, asked: str, told: dict[str, Any]) -> str:
    """Return how a chat broke whose agent calls with a text and says another."""

    def agent(request: str, tools: Any) -> str:
        tools[0](city=asked)
        return said

    schema = {"type": "object", "properties": {"city": {"type": "string", **told}}}
    tools = [{"name": "look", "description": "Look a city up.", "parameters": schema}]
    tasks = [seal.ask("Where is it?", seal.called("look", city="Rome"), answer="Rome")]
    options: dict[str, Any] = {"baselines": False, "simulator": "template"}
    try:
        run = seal.run(tasks, tools=tools, agent=agent, out=out, **options)
    except SealError as error:  # the gold does not fit the pattern
        return "" if told and str(error).strip() else f"unhandled: {error}"
    (chat,) = run.folder.trajectories()
    if chat.failed or run.exit_code:
        return f"lost: exit code {run.exit_code}: {[stop.error for stop in chat.stops]}"
    return "scored: a wrong call" if run.summary["metrics"]["calls_right"]["mean"] else ""


PIECES = ("a+", "(a+)+", "(a|a)*", r"(\w+\s?)*", r"\d*", "(.*)*", "[a-z]{0,9}", "(?:a|ab)+", " *")
BEYOND = ("(?=a)", r"(a)\1", "(?<!x)", r"\p{L}+", r"\u0061", "(?<name>a)", "(", "[", "a{99999}")


def patterns(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Ask patterns of schemas of texts that make them slow, alone and in a run."""
    for number in range(count):
        parts = chance.choices((*PIECES, *BEYOND), weights=(*[3] * 9, *[1] * 9), k=3)
        pattern = chance.choice(("", "^")) + "".join(parts) + chance.choice(("", "$", "!$"))
        text = chance.choice(("a", "1", "a ", " ", "aab")) * chance.choice((30, 1_000, 30_000))
        work = partial(_matched, lab.clear() / "run", pattern, text, played=number % 5 == 0)
        yield Tried(f"{pattern} on {text[:4]!r} x {len(text)}", broken_by(work))


def _matched(out: Path, pattern: str, text: str, played: bool) -> str:
    if played:
        return _spoken(out, "Rome.", text, {"pattern": pattern})
    matches(pattern, text)
    return ""


ODD: tuple[dict[str, Any], ...] = (
    *({"type": kind} for kind in ("dict", "OBJECT", "str", "float", "any", ["string", "null"], 7)),
    *({"items": items} for items in ([{"type": "string"}], {"type": "dict"}, True, "string")),
    *({"exclusiveMinimum": True, "minimum": bound} for bound in (3, None, "3")),
    *({"pattern": pattern} for pattern in (r"\p{L}", "(a+)+$", "(", 7)),
    *({"required": wanted} for wanted in (True, "city", ["city"], [7])),
    *({"enum": values} for values in (["1", "2"], [], "on", [None], [[1]])),
    *({"$ref": to} for to in ("#", "#/properties/a", "#/nowhere", "http://localhost:1/x", 7)),
    *({"nullable": True}, {"default": float("inf")}, {"anyOf": []}, {"allOf": [{}, False]}),
    *({"properties": {"a": 1}}, {"additionalProperties": {"type": "nothing"}}, {"multipleOf": 0}),
)
"""Keywords as some dialect, or none, writes them."""


def dialects(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Make benchmarks of tools whose schemas are of every dialect, and play them."""
    for number in range(count):
        work = lab.clear()
        tools = [
            {"name": f"look{n}", "description": "Look.", "parameters": _odd_schema(chance)}
            for n in range(3)
        ]
        (work / "tools.json").write_text(json.dumps(tools))
        (work / "tasks.csv").write_text("question,tool\nWhere is it?,look0\nAnd this?,look1\n")
        files = [word for kind in ("tools", "tasks") for word in (f"--{kind}", _file(work, kind))]
        broke = here(["new", "shop", *files, "--map", "query=question", "--out", work / "shop"])
        if not broke and (work / "shop").exists():
            play = ["run", work / "shop", "--model", "lexical", "--no-baselines"]
            broke = here([*play, "--out", work / "run"])
        yield Tried(f"{number}: {json.dumps([tool['parameters'] for tool in tools])[:300]}", broke)


def _file(work: Path, kind: str) -> Path:
    return next(work.glob(f"{kind}.*"))


def _odd_schema(chance: Random, depth: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "string" if depth else "object"}
    for odd in chance.sample(ODD, chance.randint(0, 2)):
        told |= odd
    if depth < 3 and chance.random() < 0.7:
        told["properties"] = {
            name: _odd_schema(chance, depth + 1) for name in chance.sample("abc", 2)
        }
    return told


NUMBERS = (
    *(2**63, 2**64, -(2**63) - 1, 10**400, -1, 0, -0.0, 1e308, 5e-324, 0.1 + 0.2),
    *("Infinity", "NaN", "1e999", "true", "null", '"7"'),
)
"""As JSON writes them, or what only looks so."""
_NUMBER = re.compile(rb"(?<=[:\[, ])-?\d+(?:\.\d+)?(?=[,\]}\s])")
COMMANDS = ("view RUN", "explain RUN", "score RUN", "compare RUN OTHER --resamples 20")
FILES = ("trajectories.jsonl", "scores.jsonl", "summary.json", "run.json", "timings.jsonl")


def numbers(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Put extremes in the place of a run's numbers."""
    for number in range(count):
        run = shutil.copytree(lab.folder / "base", lab.clear() / "run")
        file, value = run / chance.choice(FILES), chance.choice(NUMBERS)
        content = file.read_bytes()
        places = [found.span() for found in _NUMBER.finditer(content)]
        for start, end in sorted(chance.sample(places, min(len(places), 3)), reverse=True):
            content = content[:start] + str(value).encode() + content[end:]
        file.write_bytes(content)
        command = chance.choice(COMMANDS)
        told = str(value)[:25]
        yield Tried(f"{number}: {command}: {told} in {file.name}", here(lab.words(command)))


def stores(lab: Lab, chance: Random, count: int) -> Iterator[Tried]:
    """Damage a store of answers: it is told, repaired, and gives what was put or nothing."""
    for number in range(count):
        seed = chance.getrandbits(32)
        yield Tried(
            f"damage {number}, {seed}", broken_by(partial(_damaged, lab.clear(), Random(seed)))
        )


def _damaged(work: Path, chance: Random) -> str:
    cache = work / "cache"
    put = {f"{n:064x}": {"text": f"answer {n} " * chance.randint(1, 90)} for n in range(200)}
    with open_store(cache) as store:
        for key, entry in put.items():
            store.put(key, entry)
    (file,) = cache.glob("*.sqlite")
    content = bytearray(file.read_bytes())
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(content))
        size = chance.choice((1, 16, 4096))
        content[start : start + size] = chance.randbytes(len(content[start : start + size]))
    file.write_bytes(content[: chance.choice((len(content), chance.randrange(len(content))))])
    if broke := here(["cache", "verify", "--repair", "--cache-dir", cache]):
        return broke
    try:
        with open_store(cache) as store:
            for key, entry in put.items():
                if store.get(key) not in (None, entry):
                    return f"scored: another answer than was put, under {key[-4:]}"
    except SealError as error:
        return "" if str(error).strip() else "unhandled: an error without words"
    return ""
