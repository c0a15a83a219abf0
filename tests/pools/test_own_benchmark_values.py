"""Values that JSON cannot hold are refused where they are given, or are the tool's own failure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import UsageError


def default_of(value: object) -> Callable[[], object]:
    def get_order(order_id: list = value) -> str:  # type: ignore[assignment,type-arg]
        """Look an order up."""
        return "7"

    return lambda: seal.Benchmark("shop", tools=[get_order])


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: seal.Argument("77"), r"Argument\('77'\): expected a list .*Argument\(\['77'\]\)"),
        (lambda: seal.Argument({7}), r"Argument\(\{7\}\): expected a list of right values"),
        (lambda: seal.Argument([float("nan")]), "the number nan, which JSON cannot hold"),
        (lambda: seal.called("f", a=float("nan")), r"called\('f'\): a: .*the number nan"),
        (lambda: seal.called("f", a={7}), r"called\('f'\): a: .*set"),
        (lambda: seal.called("f", a=10**5000), "more than 4,300 digits, which JSON cannot hold"),
        (default_of({7}), r"default \{7\} of the argument 'order_id': .*set"),
        (default_of([float("inf")]), "the number inf, which JSON cannot hold"),
        (
            lambda: seal.Benchmark(
                "b", tools=[{"name": "f", "parameters": {"properties": {"a": {"enum": {7}}}}}]
            ),
            "parameters of 'f': .*set",
        ),
        (lambda: seal.ask("q", answer=10**5000), "the answer has a whole number of more than"),
        (lambda: seal.ask("q", answer=float("inf")), "the answer has the number inf"),
        (lambda: seal.ask("q", tells={"a": 10**5000}), "tells 'a': a whole number of more than"),
        (lambda: seal.ask("q", tells={"a": float("nan")}), "tells 'a': the number nan"),
        (lambda: seal.FinalState(None, ()), "expected the name of a table, got None"),  # type: ignore[arg-type]
        (lambda: seal.FinalState("t", {"id": 1}), "t: expected a list of rows, .*got {'id': 1}"),  # type: ignore[arg-type]
        (lambda: seal.FinalState("t", (None,)), r"t: expected a list of rows, .*got \(None,\)"),  # type: ignore[arg-type]
        (lambda: seal.FinalState("t", ({"id": int},)), "t: Type is not JSON serializable: type"),
        (lambda: seal.FinalState("t", (), "t.id"), r"ignore: .*got 't.id'; give \['t.id'\]"),  # type: ignore[arg-type]
    ],
)
def test_a_value_that_no_call_can_have_is_refused_when_it_is_made(
    made: Callable[[], object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        made()


def test_right_values_may_be_a_list() -> None:
    assert seal.Argument([1, 2]) == seal.Argument((1, 2))  # type: ignore[arg-type]


def looped() -> dict[str, object]:
    found: dict[str, object] = {}
    found |= {"a": found, "b": [found]}
    return found


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"price": float("nan")}, "the number nan"),
        ([10**5000], "a whole number of more than 4,300 digits"),
        (looped(), "a list or map that holds itself"),
    ],
)
def test_what_a_function_returns_and_json_would_change_is_the_tools_failure(
    value: object, told: str, tmp_path: Path
) -> None:
    def get_order(order_id: str) -> object:
        """Look an order up."""
        return value

    task = seal.ask("Where is order 7?", seal.called("get_order", order_id="7"))
    settings = {"model": "oracle", "baselines": False, "cache_dir": tmp_path / "cache"}
    run = seal.run([task], tools=[get_order], out=tmp_path / "run", **settings)

    ((_, answer),) = next(run.folder.trajectories()).calls()
    message = f"ValueError: the tool returned {told}, which JSON cannot hold"
    assert answer.result.error == {"kind": "api", "message": message}
    assert run.summary["errors"] == 0


def book(country: str, express: bool = False) -> str:
    """Book a parcel."""
    return f"booked {country}, express: {express}"


def test_a_gold_call_accepts_the_default_of_what_it_leaves_out(tmp_path: Path) -> None:
    schema = {"name": "pay", "parameters": {"properties": {"tip": {}, "by": {"default": "card"}}}}
    gold = (seal.called("book", country="DE"), seal.called("pay", tip=1))
    bench = seal.Benchmark("post", tools=[book, schema], tasks=[seal.ask("Book", *gold)])
    (plan,) = next(iter(bench.pool().tasks())).goals[0].plans or ()
    first, second = plan.calls()
    assert first.accepts({"country": "DE", "express": False}) and first.accepts({"country": "DE"})
    assert not first.accepts({"country": "DE", "express": True})
    assert second.accepts({"tip": 1, "by": "card"}) and not second.accepts({"tip": 1, "by": "x"})


def test_a_run_of_gold_that_took_no_defaults_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agent(request: str, tools: Any) -> Any:
        return tools[0](country=request, express=False)

    def play(**settings: Any) -> seal.Run:
        tasks = [seal.ask(country, seal.called("book", country=country)) for country in ("DE", "F")]
        bench = seal.Benchmark("post", tools=[book], tasks=tasks)
        return seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run", **settings)

    with monkeypatch.context() as then:
        then.setattr("seal.pools.own_benchmark.default_arguments", lambda tool: {})
        assert play(first=1)["calls_right"].mean == 1.0  # the default is the same value anyway
    assert play(resume=True)["calls_right"].mean == 1.0


@pytest.mark.parametrize("order", [("DE", "FR", "DE"), ("DE", "DE", "FR")])
def test_calls_in_another_order_than_that_of_gold_solve_nothing(
    order: tuple[str, ...], tmp_path: Path
) -> None:
    def agent(request: str, tools: Any) -> str:
        return str([tools[0](country=country) for country in order])

    gold = [seal.called("book", country=country) for country in ("DE", "FR", "DE")]
    bench = seal.Benchmark("post", tools=[book], tasks=[seal.ask("Book", *gold, in_order=True)])
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    right = float(order == ("DE", "FR", "DE"))
    names = ("calls_right", "pass_rate", "mission_accuracy")
    assert [run[name].mean for name in names] == [right] * 3
    assert f"{1 - right:.0f} of 1 goal failed" in str(seal.explain(run))
    loose = seal.Benchmark("post", tools=[book], tasks=[seal.ask("Book", *gold)])
    assert seal.run(loose, agent=agent, baselines=False)["calls_right"].mean == 1.0


def pay(house: Any, line: str) -> str:
    """Pay for a line.

    Args:
        line: Its name.
    """
    house.put(
        "lines",
        [{**row, "paid": row["paid"] or row["line"] == line} for row in house.rows("lines")],
    )
    return "paid"


def restart(house: Any) -> str:
    """Restart the box."""
    if not all(row["paid"] for row in house.rows("lines")):
        raise ValueError("no line")
    house.add("restarts", {"box": "b1"})
    return "restarted"


def household(*gold: Any, held: tuple[str, ...] = ("restart",)) -> Any:
    from seal.environments.world import Worlds, toolbox

    world = Worlds(
        name="house",
        tools=toolbox("house", [pay, restart]),
        tables={"lines": [{"line": "L1", "paid": False}], "restarts": []},
        columns={"lines": {"line": str, "paid": bool}, "restarts": {"box": str}},
    )
    persona = {"goal": "Be online again.", "tools": list(held)}
    return seal.Benchmark(
        "house", environment=world, tasks=[seal.ask("I am offline.", *gold, persona=persona)]
    )


BOTH = (seal.called("pay", line="L1"), seal.called("restart"))


def test_a_user_may_have_tools_and_gold_is_what_both_do(tmp_path: Path) -> None:
    bench = household(seal.ends_as(*BOTH), held=("restart", "restart"))  # one tool all the same
    assert bench.tasks[0].user_tools == ("restart",)
    run = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "run")
    assert run["pass_rate"].mean == 1.0
    (chat,) = run.folder.trajectories()
    made = [(step.author, step.call.name) for step, _ in chat.calls() if step.call]
    assert made == [
        ("execution_manager", "pay"),
        ("user_simulator", "restart"),
        ("user_simulator", "end_conversation"),
    ]
    alone = seal.run(
        bench,
        model="oracle",
        roles={"user_simulator": "scripted"},
        baselines=False,
        out=tmp_path / "alone",
    )
    assert alone["pass_rate"].mean == 0.0  # nobody restarts the box


def test_what_is_wrong_with_a_users_tools_is_told_when_it_is_made() -> None:
    with pytest.raises(UsageError, match="gold calls 'restart', which only the user has"):
        household(*BOTH)
    with pytest.raises(UsageError, match=r"names the tool 'reboot', .* does not have"):
        household(seal.ends_as(*BOTH), held=("reboot",))
    with pytest.raises(UsageError, match=r"persona\.tools"):
        household(seal.ends_as(*BOTH), held=(3,))  # type: ignore[arg-type]
