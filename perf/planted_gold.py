"""Gold that loosens itself, cannot work or compares too strictly: lines of `planted.py`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from planted_lab import (
    BOARD,
    CLOCK,
    HELLO,
    POSTS,
    SHOP,
    SOLVED,
    Calls,
    Lab,
    Says,
    Seen,
    as_wanted,
    in_world,
    line,
    means,
    paid,
    refusal,
    refused_all,
    told,
    with_tools,
)

import seal
from seal.core import Scale, Task
from seal.core.conditions import Called
from seal.testing import check_benchmark


@line(
    "The agent posts (refused: not connected), then connects, and says that it posted",
    "pass_rate, calls_right, mission_accuracy 1.0",
    "a refused call meets no gold; param_acc_gold is of arguments alone",
)
def refused_by_tool(lab: Lab) -> Seen:
    bench, calls = in_world(BOARD, *POSTS), [("post", HELLO), ("connect", {})]
    early = lab.says(bench, *calls, answer="Posted.")
    right = lab.says(bench, *calls[::-1], answer="Posted.")
    holds = all(early[name] < 1 and right[name] == 1 for name in SOLVED)
    return Seen(told(early, (*SOLVED, "param_acc_gold")), holds)


@line(
    "SEAL refuses calls (no JSON, unknown or missing arguments) where gold takes any arguments",
    "solved 10 of 10",
    "solved 0 of 10",
)
def refused_by_seal(lab: Lab) -> Seen:
    texts = ("what time?", "[]", '"UTC"', "{", "city=Bern", "{'city': 'Bern'}")
    wrong = [("now", text) for text in texts] + [("now", {"town": "Bern"})]
    wrong += [("find", {}), ("find", {"town": "Bern"}), ("find", '{"city":')]
    found = [lab.says(with_tools(seal.called(one[0], seal.ANY)), one) for one in wrong]
    solved = sum(any(each[name] for name in SOLVED) for each in found)
    right = lab.says(with_tools(seal.called("find", seal.ANY)), ("find", {"city": "Bern"}))
    return Seen(f"solved {solved} of {len(wrong)}", not solved and right["pass_rate"] == 1)


CANNOT_WORK = ("the oracle 1.0, check_benchmark passes, lint silent", "both refuse it")


def cannot_work(bench: seal.Benchmark) -> Seen:
    """Tell whether a benchmark whose gold fails is refused."""
    passes = not refusal(lambda: check_benchmark(bench))
    errors = sum(one.severity == "error" for one in seal.lint(bench).findings)
    words = f"check_benchmark {'passes' if passes else 'refuses'}, errors of lint: {errors}"
    return Seen(words, not passes and errors > 0)


@line("Gold is pay(50); the world pays 10 at most", *CANNOT_WORK)
def gold_fails_in_world(lab: Lab) -> Seen:
    return cannot_work(in_world(SHOP, seal.called("pay", amount=50)))


@line("The same, with a plain function", *CANNOT_WORK)
def gold_fails_in_function(lab: Lab) -> Seen:
    return cannot_work(with_tools(seal.called("paid", amount=50), tools=[paid]))


@line(
    '`called("now")`, `now()` and `"arguments": {}`; the call has an argument',
    "any arguments are right",
    "it is wrong; right for `seal.ANY`, CSV `now` and JSON without the key",
)
def no_arguments(lab: Lab) -> Seen:
    empty = {"name": "now", "arguments": {}}
    parameters = {"city": {"description": "", "type": "str"}}
    apigen = {"query": "Time?", "answers": json.dumps([empty]), "id": 1}
    apigen |= {"tools": json.dumps([{**CLOCK, "parameters": parameters}])}
    source, pool = lab.new().with_suffix(".json"), lab.new()
    source.write_text(json.dumps([apigen]))
    seal.import_benchmark("apigen", source, out=pool)

    def filed(gold: object, kind: str) -> Path:
        return lab.made([CLOCK], [{"question": "Time?", "calls": gold}], kind)

    benches = {
        "called(now)": (with_tools(seal.called("now")), 0.0),
        "called(now, ANY)": (with_tools(seal.called("now", seal.ANY)), 1.0),
        "CSV now()": (filed("now()", "csv"), 0.0),
        "CSV now": (filed("now", "csv"), 1.0),
        "JSON {}": (filed([empty], "json"), 0.0),
        "JSON without": (filed([{"name": "now"}], "json"), 1.0),
        "APIGen {}": (pool, 0.0),
    }
    given = ("now", {"city": "Bern"})
    found = {name: lab.says(bench, given)["calls_right"] for name, (bench, _) in benches.items()}
    return as_wanted({name: right for name, (_, right) in benches.items()}, found)


@line(
    "Gold is Bern under `parameters`, `input`, `args`, `kwargs`, `function` or typos; given: Paris",
    "right, 7 of 7",
    "dialects are read, so that Paris is wrong; typos are refused",
)
def gold_dialects(lab: Lab) -> Seen:
    bern = {"city": "Bern"}
    keys = ("parameters", "input", "args", "kwargs", "argumnets", "with")
    gold = [{"name": "now", key: bern} for key in keys]
    gold.append({"function": {"name": "now", "parameters": bern}})
    rows = [{"question": f"Time {n}?", "calls": [call]} for n, call in enumerate(gold)]
    pool = lab.made([CLOCK], rows, "json")
    read = len((pool / "tasks.jsonl").read_text("utf-8").splitlines())
    paris = lab.says(pool, ("now", {"city": "Paris"}))["calls_right"]
    right = lab.says(pool, ("now", bern))["calls_right"]
    words = f"{read} read, {len(gold) - read} refused; Paris {paris}, Bern {right}"
    return Seen(words, (read, paris, right) == (5, 0, 1))


EQUAL = (
    (0.3, 0.30000000000000004, 1.0),
    ("Anna Smith", "Anna\u00a0Smith", 1.0),
    ("Rome", " Rome ", 1.0),
    ("2031-05-01T10:00:00Z", "2031-05-01T10:00:00+00:00", 1.0),
    ("usual", None, 1.0),
    (123456789012345678901, 123456789012345678902, 0.0),
    ("Rome", "Rom", 0.0),
)
"""Gold, what is given (None: nothing, and gold is the default), and what is right."""


@line(
    "0.1 + 0.2, a no-break space, an outer blank, `Z`, a default left out; two long integers",
    "wrong; the integers equal",
    "right; of 21 digits the last counts; in Python and through CSV and JSON",
)
def values(lab: Lab) -> Seen:
    schema = {"type": "object", "properties": {"value": {"default": "usual"}}}
    tool = {"name": "keep", "description": "Keep a value.", "parameters": schema}
    texts = [f"Keep {n}" for n in range(len(EQUAL))]
    golds = dict(zip(texts, (gold for gold, _, _ in EQUAL), strict=True))
    tasks = [seal.ask(text, seal.called("keep", value=gold)) for text, gold in golds.items()]
    cells = [{"question": t, "calls": f"keep(value={gold!r})"} for t, gold in golds.items()]
    calls = [
        {"question": t, "calls": [{"name": "keep", "arguments": {"value": gold}}]}
        for t, gold in golds.items()
    ]
    benches = {
        "Python": seal.Benchmark("keep", tools=[tool], tasks=tasks),
        "CSV": lab.made([tool], cells, "csv"),
        "JSON": lab.made([tool], calls, "json"),
    }

    def given(task: Task) -> Calls:
        value = EQUAL[texts.index(task.goals[0].text)][1]
        return [("keep", {} if value is None else {"value": value})]

    wanted, found = dict[str, float](), dict[str, float | None]()
    for kind, bench in benches.items():
        run = lab.play(bench, Says(given), team="direct")
        scores = [one.value for one in run.folder.scores() if one.metric == "calls_right"]
        for (gold, value, right), score in zip(EQUAL, scores, strict=True):
            wanted[f"{kind}, {gold!r} and {value!r}"] = right
            found[f"{kind}, {gold!r} and {value!r}"] = score
    return as_wanted(wanted, found)


@line(
    'A tool has `"type": "array", "default": null`; gold leaves the argument out',
    "its gold is refused, its row left out",
    "the oracle solves it, in Python and from a file",
)
def default_null(lab: Lab) -> Seen:
    properties = {"city": {"type": "string"}, "days": {"type": "array", "default": None}}
    tool = {**CLOCK, "parameters": {"type": "object", "properties": properties}}
    rows = [{"question": "What time?", "calls": 'now(city="Bern")'}]
    made = with_tools(seal.called("now", city="Bern"), tools=[tool])
    benches = {"Python": made, "CSV": lab.made([tool], rows, "csv")}
    found = {name: means(lab.play(bench))["pass_rate"] for name, bench in benches.items()}
    return as_wanted(dict.fromkeys(found, 1.0), found)


@line(
    "`needs_no_tool`: the agent refuses, or greets",
    '"I\'m sorry, I cannot do that." solved, "Hello! How can I help?" undecided',
    "failed, solved",
)
def small_talk(lab: Lab) -> Seen:
    wanted = {"I'm sorry, I cannot do that.": 0.0, "Hello! How can I help?": 1.0}
    bench = with_tools(needs_no_tool=True)
    return as_wanted(wanted, {say: lab.says(bench, answer=say)["pass_rate"] for say in wanted})


# -- Bad input.


@line(
    "Gold, schemas and metrics that no chat could meet",
    "not tried",
    "each refused when the benchmark is made, with the repair",
)
def bad_input(lab: Lab) -> Seen:
    sold, sells = seal.called("sell", seat=2), seal.ends_as(seal.called("sell", seat=2))
    rows = [{"question": "Time?", "calls": [{"name": "now", "argumnets": {}}]}]
    properties = {"days": {"type": "integer", "default": "three"}}
    broken = {**CLOCK, "parameters": {"type": "object", "properties": properties}}

    def moves(task: Task, trajectory: seal.Trajectory) -> int:
        return 1

    moves.scales = {"moves": Scale(bounded=False, higher_is_better=None)}  # type: ignore[attr-defined]

    def ends(*calls: Called, ignore: Sequence[str] = ()) -> seal.Benchmark:
        return in_world(SHOP, seal.ends_as(*calls, ignore=ignore))

    return refused_all(
        {
            "ends_as fails": (lambda: ends(seal.called("pay", amount=50)), "seal.refused"),
            "ends_as works": (lambda: ends(seal.refused(sold)), "refused"),
            "ends_as, no tool": (lambda: ends(seal.called("sel", seat=2)), "Did you mean 'sell'"),
            "ends_as, no world": (lambda: with_tools(sells, tools=[paid]), "name"),
            "ignore": (lambda: ends(sold, ignore=["tickets.nr"]), "it has|known"),
            "unknown keys": (lambda: lab.made([CLOCK], rows, "json"), "Did you mean 'arguments'"),
            "default": (lambda: with_tools(tools=[broken]), "default"),
            "success": (lambda: in_world(SHOP, sold, metrics=[moves], success="moves"), "best"),
        }
    )
