"""What sandboxes do with functions that mean well, and what they refuse."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

from seal.core import InfrastructureError, MissingExtraError, UnknownNameError, UsageError
from seal.sandbox import build_sandbox
from seal.sandbox.bubblewrap import BubblewrapSandbox, why_not
from seal.sandbox.function_cases import (
    MOST_MESSAGE,
    MOST_RESULT,
    Case,
    Limits,
    Module,
    Outcome,
    Sandbox,
    Second,
    play_cases,
    returned,
    same_rows,
    too_large,
)
from seal.sandbox.monty import MontySandbox

TABLE = [{"city": "Oakland", "price": 2}, {"city": "Fresno", "price": 3, "open": True}]
BY_CITY = "def f(table, city=None):\n    return [r for r in table if city in (None, r['city'])]"
QUICK = Limits(seconds=0.2)


@pytest.fixture(params=["monty", "bubblewrap"])
def kind(request: pytest.FixtureRequest) -> type:
    if request.param == "bubblewrap":
        if why_not():
            pytest.skip(why_not())
        return BubblewrapSandbox
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    return MontySandbox


def statuses(sandbox: Sandbox, source: str, *cases: Case) -> list[str]:
    return [outcome.status for outcome in sandbox.run(source, "f", TABLE, cases)]


def test_rows_are_compared_with_the_expected_ones(kind: type) -> None:
    cases = [Case({}), Case({}, TABLE), Case({"city": "Fresno"}, TABLE[1:]), Case({}, TABLE[:1])]

    assert statuses(kind(), BY_CITY, *cases) == ["pass", "pass", "pass", "wrong"]


def test_what_was_returned_and_who_ran_it_stand_in_the_outcome(kind: type) -> None:
    (outcome,) = kind().run(BY_CITY, "f", TABLE, [Case({"city": "Fresno"})])

    assert outcome.received == TABLE[1:]
    assert outcome.sandbox == kind().identity()["name"]


def test_order_counts_only_where_it_is_asked_for(kind: type) -> None:
    turned = "def f(table):\n    return table[::-1]"

    assert statuses(kind(), turned, Case({}, TABLE), Case({}, TABLE, ordered=True)) == [
        "pass",
        "wrong",
    ]


def test_every_case_has_a_fresh_table(kind: type) -> None:
    source = "def f(table):\n    table[0]['city'] = 'x'\n    return [table.pop()]"

    assert statuses(kind(), source, *[Case({}, TABLE[1:])] * 3) == ["pass"] * 3


def test_a_table_of_nested_values_is_fresh_too(kind: type) -> None:
    source = "def f(table):\n    table[0]['tags'].append(1)\n    return table"
    case = Case({}, [{"tags": [1]}])

    outcomes = kind().run(source, "f", [{"tags": []}], [case, case])

    assert [outcome.status for outcome in outcomes] == ["pass", "pass"]


def test_the_next_case_is_played_after_one_that_ran_out_of_time(kind: type) -> None:
    source = "def f(table, stop):\n    while not stop: pass\n    return []"
    cases = [Case({"stop": stop}, []) for stop in (True, False, True)]

    assert statuses(kind(QUICK), source, *cases) == ["pass", "timeout", "pass"]


def test_a_function_that_always_runs_out_is_not_waited_for(kind: type) -> None:
    limits = Limits(seconds=0.1, spent=2)
    outcomes = kind(limits).run("def f(table):\n    while True: pass", "f", [], [Case({})] * 50)

    assert {outcome.status for outcome in outcomes} == {"timeout"}
    assert outcomes[2].message.startswith("not run")


def test_texts_of_every_kind_come_through_unchanged(kind: type) -> None:
    values = ["naïve", "東京", "\0", "\u2028", 10**18 * 7, -0.5, True, None, {"a": [1, {}]}]
    source = "def f(table, values):\n    return values"

    assert statuses(kind(), source, Case({"values": values}, values)) == ["pass"]


def test_a_result_that_is_too_large_says_so(kind: type) -> None:
    (outcome,) = kind().run(f"def f(t): return ['x' * {MOST_RESULT}]", "f", [], [Case({})])

    assert (outcome.status, outcome.received) == ("memory", None)
    assert str(MOST_RESULT) in outcome.message


def test_no_case_needs_no_sandbox_to_start(kind: type) -> None:
    assert kind().run("while True: pass", "f", [], []) == []


def test_the_clock_and_chance_of_the_embedded_sandbox_stand_still() -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    source = (
        "import random\nfrom datetime import date\n"
        "def f(table): return [str(date.today()), random.random()]"
    )
    first, second = (MontySandbox().run(source, "f", [], [Case({})])[0] for _ in range(2))

    assert first == second
    assert first.received[0] == "2019-03-01"


def test_what_the_first_lacks_runs_in_the_second() -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    if why_not():
        pytest.skip(why_not())
    source = "def f(table):\n    def rows():\n        yield from table\n    return list(rows())"
    first, second = MontySandbox(), BubblewrapSandbox()

    assert statuses(first, source, Case({}, TABLE)) == ["unsupported"]
    (outcome,) = Second(first, second).run(source, "f", TABLE, [Case({}, TABLE)])
    assert (outcome.status, outcome.sandbox) == ("pass", "bubblewrap")
    assert Second(first, second).identity()["second"] == second.identity()


def test_limits_and_versions_are_the_identity(kind: type) -> None:
    ours, other = kind(QUICK).identity(), kind().identity()

    assert ours["limits"]["seconds"] == 0.2
    assert {**ours, "limits": 0} == {**other, "limits": 0}
    assert ours["version"][0].isdigit()


def test_an_unknown_sandbox_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'monty'"):
        build_sandbox("mony")


def test_without_the_package_the_embedded_sandbox_is_refused() -> None:
    code = (
        "import sys; sys.modules['pydantic_monty'] = None\n"
        "from seal.sandbox import build_sandbox\nbuild_sandbox()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert ran.returncode == 1
    assert MissingExtraError("pydantic-monty", "dialogue").args[0] in ran.stderr


def test_without_bubblewrap_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(UsageError, match="apt-get install bubblewrap"):
        build_sandbox("bubblewrap")


def test_a_bubblewrap_that_does_not_work_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(UsageError, match=r"Permission denied.*user namespaces"):
        BubblewrapSandbox().run("def f(table): return []", "f", [], [Case({})])


def test_the_child_sees_the_interpreter_alone() -> None:
    if why_not():
        pytest.skip(why_not())
    here = str(Path(__file__).resolve())
    source = (
        "import os\n"
        "def f(table, paths):\n"
        "    return [os.getuid(), sorted(os.environ), [p for p in paths if os.path.exists(p)]]"
    )
    paths = [here, "/etc/passwd", "/proc/1", "/home", "/tmp", "/bin/sh", "/dev/null", "/var"]

    (outcome,) = BubblewrapSandbox().run(source, "f", [], [Case({"paths": paths})])

    assert outcome.received == [65534, ["PWD", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONUTF8"], []]


def test_rows_are_the_same_where_their_json_is() -> None:
    assert same_rows([{"a": 1, "b": 2}], [{"b": 2.0, "a": 1}])
    assert not same_rows([{"a": True}], [{"a": 1}])
    assert not same_rows([{"a": 1}], [{"a": 1}, {"a": 1}])
    assert not same_rows({"a": 1}, [{"a": 1}])
    assert same_rows([], [])


@pytest.mark.parametrize("name", ["base64", "binascii", "hashlib", "zlib"])
def test_the_child_loads_modules_whose_libraries_are_named_by_links(name: str) -> None:
    if why_not():
        pytest.skip(why_not())

    assert statuses(BubblewrapSandbox(), f"import {name}\n{BY_CITY}", Case({}, TABLE)) == ["pass"]


def test_a_number_that_only_infinity_holds_is_no_result() -> None:
    outcome = returned('[{"price": 1e999}]', Case({}), "any")

    assert (outcome.status, outcome.received) == ("exception", None)


def test_a_size_that_the_code_made_up_makes_no_long_message() -> None:
    outcome = too_large(10**4000, "any")

    assert (outcome.status, len(outcome.message)) == ("memory", MOST_MESSAGE)


def test_a_child_that_cannot_be_started_is_no_fault_of_the_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if why_not():
        pytest.skip(why_not())
    broken = tmp_path / "bwrap"
    # It works once, and never again.
    broken.write_text("#!/bin/sh\nprintf 1; printf '#!/nowhere\\n' > \"$0\"; exit\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(InfrastructureError, match="cannot be started"):
        BubblewrapSandbox().run(BY_CITY, "f", TABLE, [Case({})])


SLOW = "def f(table, n):\n    for _ in range(n): pass\n    return [n]"
"""A moment's work, in which somebody may end the process."""


class Ender(threading.Thread):
    """Ends the first sandbox's process that it sees, as a machine without memory does."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ended = 0
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.ended and not self.stop.wait(0.01):
            for pid in children()[:1]:
                self.stop.wait(0.4)
                os.kill(pid, signal.SIGKILL)
                self.ended += 1


def children() -> list[int]:
    """Return the sandboxes' processes among those of this process."""
    found = Path("/proc/self/task").glob("*/children")
    pids = [int(pid) for each in found for pid in each.read_text().split()]
    return [pid for pid in pids if command(pid) in ("monty", "bwrap")]


def command(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "comm").read_text().strip()
    except OSError:
        return ""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found by /proc")
def test_a_worker_that_is_ended_from_outside_is_no_fault_of_the_code(kind: type) -> None:
    ender = Ender()
    sandbox = kind(Limits(seconds=30.0))
    sandbox.identity()
    ender.start()
    cases = [Case({"n": n}, [n]) for n in (0, 80_000_000, 1)]

    try:
        found = statuses(sandbox, SLOW, *cases)
    finally:
        ender.stop.set()
        ender.join()

    assert ender.ended == 1
    assert found == ["pass"] * 3


class Dying(Module):
    """Plays two cases; processes die at those of given numbers."""

    def __init__(self, *dies: int) -> None:
        super().__init__()
        self.dies = dies

    def _is_open(self) -> bool:
        return True

    def _outcome(self, case: Case) -> Outcome:
        if self._case in self.dies:
            self.deaths.append(self._case)
            return Outcome("exception", message="the child ended with status 137")
        return Outcome("pass")


def test_deaths_at_other_places_are_an_error_and_at_the_same_ones_the_codes_own() -> None:
    def played(*modules: Module) -> list[str]:
        left = iter(modules)
        outcomes = play_cases(
            "", [Case({}), Case({})], Limits(), "x", lambda: nullcontext(next(left))
        )
        return [outcome.status for outcome in outcomes]

    assert played(Dying()) == ["pass", "pass"]
    assert played(Dying(0), Dying(0)) == ["exception", "pass"]
    assert played(Dying(0), Dying()) == ["pass", "pass"]
    with pytest.raises(InfrastructureError, match=r"at different places.*--workers"):
        played(Dying(0), Dying(1))


def test_a_child_that_ends_itself_is_the_codes_own_fault() -> None:
    if why_not():
        pytest.skip(why_not())
    source = "import os\ndef f(table, how):\n    return os.kill(os.getpid(), how) or []"

    found = statuses(BubblewrapSandbox(), source, *[Case({"how": how}, []) for how in (9, 0, 15)])

    assert found == ["exception", "pass", "exception"]


@pytest.mark.parametrize("while_it", ["def f(t): ", ""], ids=["is called", "loads"])
def test_the_text_of_an_exception_costs_the_harness_nothing(while_it: str) -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    code = (
        "import resource\n"
        "from seal.sandbox.function_cases import Case, Limits\n"
        "from seal.sandbox.monty import MontySandbox\n"
        "def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "MontySandbox().run('def f(t): raise KeyError(1)', 'f', [], [Case({})])\n"
        "before = most()\n"
        f"source = '{while_it}raise ValueError(\"x\" * 100_000_000)'\n"
        "(o,) = MontySandbox(Limits(seconds=60.0)).run(source, 'f', [], [Case({})])\n"
        "print(o.status, len(o.message), o.message[:13], most() - before < 20_000)"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert ran.stdout.split() == ["exception", "300", "ValueError:", "x", "True"], ran.stderr


@pytest.mark.parametrize("name", ["rows", "flat", "load", "play", "space", "cut"])
def test_code_can_neither_read_nor_replace_what_calls_it(name: str) -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")
    read = f"def f(table): return eval('{name}' * (table == []))"
    replaced = (
        f"{name} = json = dict = len = 'mine'\ndef f(t):\n    exec('{name} = 1')\n    return t"
    )

    (outcome,) = MontySandbox().run(read, "f", [], [Case({})])
    assert outcome.message == f"NameError: name '{name}' is not defined"
    assert statuses(MontySandbox(), replaced, *[Case({}, TABLE)] * 2) == ["pass", "pass"]


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("raise NotImplementedError('yield expressions')", "exception"),
        ("def g():\n    raise NotImplementedError\ng()", "exception"),
        ("x = 1\ndef f(table):\n    yield x", "unsupported"),
        ("from __future__ import annotations\ndef f(table: Any): return []", "pass"),
        ("raise KeyError", "exception"),
        ("def f(:", "syntax"),
    ],
)
def test_what_the_embedded_sandbox_lacks_is_what_its_parser_says(source: str, status: str) -> None:
    pytest.importorskip("pydantic_monty", reason="pydantic-monty comes with the extra dialogue")

    assert statuses(MontySandbox(), source, Case({})) == [status]


def test_a_source_that_asks_for_its_name_is_told_the_same_everywhere(kind: type) -> None:
    assert statuses(kind(), "x = __name__\ndef f(t): return [x]", Case({}, ["source"])) == ["pass"]


def test_the_clock_stands_at_one_moment_in_every_sandbox(kind: type) -> None:
    source = """
import datetime, time

def f(table):
    now, today = datetime.datetime.now(), datetime.date.today()
    inner = isinstance(now, datetime.datetime) and isinstance(now.date(), datetime.date)
    utc = datetime.datetime.now(datetime.timezone.utc)
    return [{"now": now.isoformat(), "utc": utc.isoformat(), "today": str(today), "is": inner}]
"""
    said = {"now": "2019-03-01T00:00:00", "utc": "2019-03-01T00:00:00+00:00"}
    outcome, again = kind().run(source, "f", TABLE, [Case({}), Case({})])

    assert outcome.received == [{**said, "today": "2019-03-01", "is": True}], outcome.message
    assert again.received == outcome.received


def test_no_sandbox_waits_or_measures_time(kind: type) -> None:
    source = """
import time

def f(table):
    began = time.monotonic(), time.perf_counter(), time.perf_counter_ns(), time.process_time()
    time.sleep(50)
    ended = time.monotonic(), time.perf_counter(), time.perf_counter_ns(), time.process_time()
    return [began == ended, time.monotonic(), time.process_time()]
"""
    (outcome,) = kind().run(source, "f", TABLE, [Case({})])

    assert outcome.received == [True, 1_551_398_400, 0], outcome.message


@pytest.mark.parametrize(
    "drawn",
    ["random.random()", "random.Random().random()", "os.urandom(4).hex()", "str(uuid.uuid4())"],
)
def test_what_is_drawn_at_random_is_the_same_each_time(drawn: str) -> None:
    if why_not():
        pytest.skip(why_not())
    source = f"import os, random, uuid\nrandom.seed()\ndef f(table): return [{drawn}]"
    first, second = (
        BubblewrapSandbox().run(source, "f", TABLE, [Case({}), Case({})]) for _ in range(2)
    )
    assert [one.status for one in first] == ["pass", "pass"], first
    assert first == second


def test_every_way_to_ask_the_time_tells_the_same(tmp_path: Path) -> None:
    source = """
import time, datetime, calendar

def f(table):
    told = [time.time(), time.time_ns() / 10**9, calendar.timegm(time.gmtime())]
    told += [datetime.datetime.utcnow().year, time.localtime().tm_year, int(time.strftime("%Y"))]
    return [*told, time.ctime(), time.gmtime(86_400).tm_mday]
"""
    if why_not():
        pytest.skip(why_not())
    (outcome,) = BubblewrapSandbox().run(source, "f", TABLE, [Case({})])

    assert outcome.received == [
        *[1_551_398_400] * 3,
        *[2019] * 3,
        "Fri Mar  1 00:00:00 2019",
        2,
    ], outcome.message
