"""Policies: what is told of them, which calls break them, and what that decides."""

import threading
from dataclasses import replace

import pytest
from looped import every_case

import seal
from seal.core import (
    InfrastructureError,
    OverdueError,
    Step,
    Stop,
    Task,
    ToolCall,
    Trajectory,
    UsageError,
)
from seal.core.conditions import BREACHES
from seal.environments.chat_world import World
from seal.environments.policy import breaches, policy_text, with_breaches
from seal.environments.world import Worlds, WorldSetup, build_worlds, joined, toolbox
from seal.evaluation.goals import TaskChat
from seal.evaluation.pass_rates import PassRate
from seal.runs import engine

AGENT, USER, EXECUTOR = "execution_manager", "user_simulator", "executor"


def lend(library: World, book: str, who: str = "Ada") -> str:
    """Lend a book.

    Args:
        book: Its title.
        who: Who gets it.
    """
    if book == "none":
        raise ValueError("no such book")
    library.add("loans", {"book": book, "who": who})
    return "lent"


def looked(library: World) -> list:
    """List what is lent."""
    return library.rows("loans")


def at_most_two(call, world, chat):
    """Lend two books at most."""
    if call.name == "lend" and len(world.rows("loans", who=call.arguments["who"])) >= 2:
        return f"{call.arguments['who']} has two"
    return None


def look_first(call, world, chat):
    """Look what is lent

    before you lend.
    """
    if call.name == "lend" and not any(made.name == "looked" for made in chat.calls):
        return "nobody looked"
    return None


def ask_first(call, world, chat):
    """Get a yes before you lend."""
    return None if call.name != "lend" or chat.allowed else "nobody was asked"


def library(*policy, name="library"):
    return Worlds(
        name=name,
        tools=toolbox("library", [lend, looked]),
        tables={"loans": []},
        columns={"loans": {"book": str, "who": str}},
        policy=policy,
    )


TASK = Task("t", "b", (seal.Goal("Lend me Emma."),), world="library")


def chat_of(*moves) -> Trajectory:
    """Return a chat in the library: texts of the agent, `(text,)` of the user, calls as lists."""
    world, steps = library().open(TASK, 0), [Step(0, USER, AGENT, "Lend me Emma.")]
    steps[0] = replace(steps[0], state=world.states()[-1])
    for turn, move in enumerate(moves, 1):
        if isinstance(move, str):
            steps.append(Step(len(steps), AGENT, USER, move, turn=turn))
        elif isinstance(move, tuple):
            steps.append(Step(len(steps), USER, AGENT, move[0], turn=turn))
        else:
            calls = [
                ToolCall(f"c{turn}_{n}", name, given, tool=f"library/{name}")
                for n, (name, given) in enumerate(move)
            ]
            steps += [Step(len(steps), AGENT, EXECUTOR, call=one, turn=turn) for one in calls]
            results = zip(world.call(calls), world.states(), strict=True)
            for result, state in results:
                steps.append(
                    Step(len(steps), EXECUTOR, AGENT, result=result, turn=turn, state=state)
                )
    numbered = tuple(replace(step, index=number) for number, step in enumerate(steps))
    said = [move for move in moves if isinstance(move, str)]
    return Trajectory(
        "t", 0, numbered, stops=(Stop("user_ended"),), answers=(said[-1] if said else None,)
    )


LEND = [("lend", {"book": "Emma"})]
ASKED = "Shall I lend Emma?"
YES = ("Yes, go ahead.",)


def broken(policy, *moves) -> list[str]:
    return [one["why"] for one in breaches([policy], TASK, chat_of(*moves))]


def test_an_agent_is_told_texts_as_they_are_and_checks_by_their_docstrings() -> None:
    told = policy_text(["You lend books.", at_most_two, look_first, "- Be brief.", "Good luck."])

    assert told == (
        "You lend books.\n\n- Lend two books at most.\n- Look what is lent before you lend.\n"
        "- Be brief.\n\nGood luck."
    )
    assert library("You lend books.", at_most_two).told == (
        "You lend books.\n\n- Lend two books at most."
    )
    assert library().told == ""


def test_a_rule_sees_the_world_as_the_call_met_it_and_as_it_left_it() -> None:
    seen = []

    def see(call, world, chat):
        """Look."""
        seen.append((len(world.rows("loans")), len(world.after.rows("loans")), str(world.today)))

    assert broken(see, LEND, LEND) == []
    assert seen == [(0, 1, "2025-01-01"), (1, 2, "2025-01-01")]
    assert broken(at_most_two, LEND, LEND) == []
    assert broken(at_most_two, LEND, LEND, LEND, LEND) == ["Ada has two", "Ada has two"]


def test_a_rule_sees_defaults_and_can_change_nothing_for_the_next() -> None:
    def take(call, world, chat):
        """Take what there is."""
        assert call.arguments == {"book": "Emma", "who": "Ada"}
        world.rows("loans").clear()
        call.arguments["who"] = "Bo"

    found = list(breaches([take, at_most_two], TASK, chat_of(LEND, LEND, LEND)))

    assert found == [
        {"step": 5, "goal": 0, "tool": "lend", "rule": "at_most_two", "why": "Ada has two"}
    ]


def test_calls_that_failed_break_nothing_and_allow_nothing() -> None:
    nothing = [("lend", {"book": "none"})]

    assert broken(look_first, nothing) == []
    assert broken(look_first, [("looked", {"no": 1})], LEND) == ["nobody looked"]
    assert broken(look_first, [("looked", {})], LEND) == []


def test_of_calls_at_once_each_sees_those_that_ran_before_it() -> None:
    assert broken(look_first, [("looked", {}), *LEND]) == []
    assert broken(look_first, [*LEND, ("looked", {})]) == ["nobody looked"]
    assert broken(at_most_two, [*LEND, *LEND, *LEND]) == ["Ada has two"]


def test_one_yes_allows_one_call_and_no_other() -> None:
    assert broken(ask_first, LEND) == ["nobody was asked"]
    assert broken(ask_first, ASKED, YES, LEND) == []
    assert broken(ask_first, ASKED, ("No, leave it.",), LEND) == ["nobody was asked"]
    assert broken(ask_first, ASKED, YES, [("lend", {"book": "Dune"})]) == ["nobody was asked"]
    assert broken(ask_first, ASKED, YES, LEND, LEND) == ["nobody was asked"]
    assert broken(ask_first, ASKED, YES, LEND, "Again. Shall I lend Emma?", YES, LEND) == []
    assert broken(ask_first, ASKED, YES, [*LEND, *LEND]) == ["nobody was asked"]


@every_case(
    ("day", "allowed"),
    [
        ("Thursday, 9 January", True),
        ("the 9th of January", True),
        ("Thursday", False),  # the world begins on Wednesday, 1 January
        ("10 January", False),
        ("9 January 2024", False),
    ],
)
def test_the_clock_tells_the_year_of_a_day_that_is_asked_for(day: str, allowed: bool) -> None:
    lent = [("lend", {"book": "2025-01-09"})]

    assert broken(ask_first, f"Shall I lend it on {day}?", YES, lent) == (
        [] if allowed else ["nobody was asked"]
    )


def test_calls_of_the_user_are_not_asked_about() -> None:
    chat = chat_of(LEND)
    own = [replace(s, author=USER) if s.call is not None else s for s in chat.steps]

    assert list(breaches([look_first], TASK, replace(chat, steps=tuple(own)))) == []


def test_a_chat_keeps_what_was_broken_and_a_broken_rule_solves_nothing() -> None:
    goal = seal.ask("Lend me Emma.", answer="Emma").goals[0]
    worlds, task = library(at_most_two, look_first), replace(TASK, goals=(goal,))
    kept = with_breaches(worlds.policy, task, chat_of([("looked", {})], LEND, "Emma is lent."))
    amiss = with_breaches(worlds.policy, task, chat_of(LEND, "Emma is lent."))

    assert kept.provenance == {BREACHES: []}
    assert [one["rule"] for one in amiss.provenance[BREACHES]] == ["look_first"]
    tools = {tool.id: tool for tool in worlds.documents()}
    scores = [PassRate().of(TaskChat(task, chat, tools))[0] for chat in (kept, amiss)]
    assert [score.value for score in scores] == [1.0, 0.0]
    assert scores[1].details["by"] == "policy"
    assert scores[1].details["reason"] == "a call broke the policy: nobody looked"
    assert with_breaches(["Be brief."], task, kept) is kept


def test_a_run_tells_the_policy_checks_it_and_names_the_rule(tmp_path) -> None:
    bench = seal.Benchmark(
        "lending",
        environment=library("You lend books.", look_first),
        tasks=[seal.ask("Lend me Emma.", seal.ends_as(seal.called("lend", book="Emma")))],
        system="Today is Monday.",
    )

    def hasty(request, tools):
        {tool.__name__: tool for tool in tools}["lend"](book="Emma")
        return "Emma is lent."

    def careful(request, tools):
        {tool.__name__: tool for tool in tools}["looked"]()
        return hasty(request, tools)

    rates = {}
    for agent in (hasty, careful):
        run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / agent.__name__)
        rates[agent.__name__] = run["pass_rate"].mean
        (task,) = run.folder.tasks()
    assert rates == {"hasty": 0.0, "careful": 1.0}
    assert task.system == (
        "You lend books.\n\n- Look what is lent before you lend.\n\nToday is Monday."
    )
    stages = {stage.stage: stage.causes for stage in seal.explain(tmp_path / "hasty").stages}
    assert stages["wrong_tool"] == {"policy": 1}


def test_without_a_policy_a_run_keeps_no_breaches(tmp_path) -> None:
    tasks = [seal.ask("Which are lent?", seal.ends_as())]
    bench = seal.Benchmark("lending", environment=library(), tasks=tasks)
    run = seal.run(bench, model="oracle", baselines=False, out=tmp_path / "run")

    (chat,) = run.folder.trajectories()
    assert BREACHES not in chat.provenance
    assert "policy" not in library().identity()
    assert library(look_first).identity() != library(at_most_two).identity()


def no_docstring(call, world, chat):
    return None


def two_arguments(call, world):
    """Two."""


async def waits(call, world, chat):
    """Wait."""


@every_case(
    ("policy", "told"),
    [
        ("Be brief.", "expected a list of rules"),
        ([7], "7 is no rule; expected a text, or a function of"),
        ([" "], "is no rule"),
        ([no_docstring], "has no docstring, so that the agent is not told of it"),
        ([two_arguments], "write it as `def two_arguments(call, world, chat)`"),
        ([waits], "write it as `def waits"),
    ],
)
def test_what_is_no_rule_is_refused_when_the_world_is_made(policy, told) -> None:
    with pytest.raises(UsageError, match=r"world 'w': policy") as error:
        Worlds(name="w", tools={}, policy=policy)
    assert told in str(error.value)


def fails(call, world, chat):
    """Fail."""
    return world.row("loans", book="Dune")


def panics(call, world, chat):
    """Panic."""
    raise type("PanicException", (BaseException,), {})("odd")


def says_true(call, world, chat):
    """Say true."""
    return True


@every_case(
    ("rule", "told"),
    [
        (fails, "fails of the policy failed at a call of lend: LookupError"),
        (panics, "panics of the policy failed at a call of lend: PanicException: odd"),
        (says_true, "returned True at a call of lend; expected a text, or None"),
    ],
)
def test_a_rule_that_fails_ends_the_chat_and_is_no_score(rule, told) -> None:
    with pytest.raises(InfrastructureError, match=r"mend it|expected a text") as error:
        broken(rule, LEND)
    assert told in str(error.value)


def takes_its_time(call, world, chat):
    """Take its time."""
    raise OverdueError("the time of the chat is up")


def test_a_rule_amid_which_the_time_is_up_is_not_said_to_fail() -> None:
    with pytest.raises(OverdueError, match=r"^the time of the chat is up$"):
        broken(takes_its_time, LEND)


# -- Worlds that are joined.


def shelve(shelf: World, book: str) -> str:
    """Put a book back.

    Args:
        book: Its title.
    """
    shelf.put("loans", [row for row in shelf.rows("loans") if row["book"] != book])
    return "back"


def shelves(**parts):
    given = {"tables": {"loans": []}, "columns": {"loans": {"book": str, "who": str}}}
    return Worlds(name="shelves", tools=toolbox("shelves", [shelve]), **{**given, **parts})


def test_joined_worlds_share_tables_tools_and_rules() -> None:
    both = joined([library(look_first), shelves(policy=[look_first, "Be brief."])])
    world = both.open(Task("t", "b", ()), 0)
    calls = [
        ToolCall("1", "lend", {"book": "Emma"}, tool="library/lend"),
        ToolCall("2", "shelve", {"book": "Emma"}, tool="shelves/shelve"),
    ]

    for call in calls:
        (result,) = world.call([call])
        assert result.error is None
    assert (both.name, both.policy) == ("library+shelves", (look_first, "Be brief."))
    assert world.rows("loans") == []
    assert joined([library(), library()]).tools == library().tools


@every_case(
    ("part", "told"),
    [
        (shelves(tables={"loans": [{"book": "Emma", "who": "Bo"}]}), "begins otherwise"),
        (shelves(columns={"loans": {"book": str}}), "has other columns there"),
        ("shelves", "str does not tell its tools"),
    ],
)
def test_worlds_that_do_not_fit_are_not_joined(part, told) -> None:
    with pytest.raises(UsageError, match=told):
        joined([library(), part])


def test_two_tools_of_one_name_and_two_classes_are_not_joined() -> None:
    def lend(shelf: World, book: str) -> str:
        """Lend another way.

        Args:
            book: Its title.
        """
        return book

    class Own(World):
        pass

    with pytest.raises(UsageError, match="two tools are named 'lend'; rename one"):
        joined([library(), replace(shelves(), tools=toolbox("s", [lend]))])
    with pytest.raises(UsageError, match="library and shelves have worlds of their own classes"):
        joined([replace(library(), make=Own), replace(shelves(), make=Own)])
    assert joined([library(), replace(shelves(), make=Own)]).make is Own


def test_a_name_with_a_plus_builds_the_worlds_that_it_joins() -> None:
    seal.register("world", "policy_library", library(look_first))
    seal.register("world", "policy_shelves", shelves())

    both = build_worlds("policy_library+policy_shelves", WorldSetup())
    assert [tool.name for tool in both.documents()] == ["lend", "looked", "shelve"]
    with pytest.raises(seal.SealError, match="nowhere"):
        build_worlds("policy_library+nowhere", WorldSetup())


def test_a_rule_that_hangs_ends_its_chat_within_the_limit(monkeypatch):
    over = threading.Event()

    def hanging(call, world, chat):
        """Wait."""
        over.wait(120)

    monkeypatch.setattr(engine, "SHORTEST_S", 0.2)
    tasks = [seal.ask("Lend me Emma.", seal.ends_as(seal.called("lend", book="Emma")))]
    bench = seal.Benchmark("library", environment=library(hanging), tasks=tasks)
    try:
        run = seal.run(bench, model="oracle", baselines=False, max_seconds=0.2)
    finally:
        over.set()
    (chat,) = run.folder.trajectories()
    assert chat.failed
    assert "the rules of its policy: it takes longer than it may" in chat.stops[0].error
