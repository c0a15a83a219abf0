"""Worlds that end otherwise, calls besides those of gold, calls that fail: `planted.py`'s lines."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from planted_faults import (
    MANAGER,
    OUTAGE,
    REFUSED,
    Planted,
    failing,
    junk_calls,
)
from planted_lab import (
    ORDERS,
    SHOP,
    SOLVED,
    Lab,
    NotHeldError,
    Says,
    Seen,
    as_wanted,
    in_world,
    line,
    means,
    told,
)

import seal
from seal.core import JSON, Completion, Request, Task
from seal.core.conditions import USER
from seal.evaluation import score_trajectory, usual_metrics

OF_CALLS = {*SOLVED[1:], "optimal_path", "progress", "all_gold_calls"}
SUCCESS = {*OF_CALLS, "pass_rate", "dialogue_accuracy", "similarity", "milestone_similarity"}
SAMPLES = ("sample", "mmtb-sample", "toolscan-sample", "toolsandbox-sample")
"""Of dialogtool-sample calls are asked for, but not run."""

# -- How the world ends, and what was done besides.


@line(
    "The agent sells the ticket twice, or cancels another customer's order after the right one",
    "similarity and pass_rate 1.0",
    "`seal.ends_as` and `seal.FinalState` fail both",
)
def end_of_world(lab: Lab) -> Seen:
    sold, left = ("sell", {"seat": 2}), ("cancel", {"order_id": "7"})
    rows = tuple({**order, "open": order["id"] != "7"} for order in ORDERS)
    new = ("tickets.id",)
    twice, other = (sold, sold), (left, ("cancel", {"order_id": "8"}))
    cases = {
        "ticket, ends_as": (twice, seal.ends_as(seal.called("sell", seat=2), ignore=new)),
        "ticket, FinalState": (twice, seal.FinalState("tickets", ({"seat": 2},), ignore=new)),
        "order, ends_as": (other, seal.ends_as(seal.called("cancel", order_id="7"))),
        "order, FinalState": (other, seal.FinalState("orders", rows)),
    }
    wanted, found = dict[str, float](), dict[str, float]()
    for name, (calls, gold) in cases.items():
        for made in (1, 2):
            wanted[f"{name}, calls {made}"] = float(made == 1)
            run = lab.says(in_world(SHOP, gold), *calls[:made])
            found[f"{name}, calls {made}"] = run["pass_rate"]
    return as_wanted(wanted, found)


CHANGES: dict[str, dict[str, JSON]] = {
    "add_reminder": {"content": "Water the plants", "reminder_timestamp": 1_900_000_000.0},
    "add_contact": {"name": "Zoe Quux", "phone_number": "+14155550123"},
    "send_message_with_phone_number": {"phone_number": "+14155550123", "content": "Hi"},
}
"""Calls that change the phone, and that no gold makes."""


def one_change_more(request: Request, said: Completion, task: Task) -> Completion:
    """Let the oracle make its calls, and then one that nobody asked for."""
    if said.calls or request.role != MANAGER:
        return said
    made = [call.arguments for message in request.messages for call in message.calls]
    names = [tool.name for tool in request.tools if tool.name in CHANGES]
    if not names or CHANGES[names[0]] in made:
        return said
    return Completion(calls=(seal.ToolCall("", names[0], CHANGES[names[0]]),))


def changed(run: seal.Run) -> set[str]:
    """Return the tasks in which such a call changed the phone."""
    return {
        chat.task_id
        for chat in run.folder.trajectories()
        for step, answer in chat.calls()
        if answer and answer.state and step.call and step.call.arguments in CHANGES.values()
    }


def valued(run: seal.Run, metric: str) -> dict[str, float | None]:
    """Return task to its score."""
    return {one.task_id: one.value for one in run.folder.scores() if one.metric == metric}


@line(
    "In the sample, after the gold calls every other tool is called with junk",
    "pass_rate 1.000, calls_right .225, explain 0 failures",
    "calls_right below 1 in the first table of five rows, `extra_calls` above 0 with all metrics",
)
def extra_calls(lab: Lab) -> Seen:
    run = lab.play("sample", Planted(junk_calls), first=20)
    found, shown = means(run), "calls_right" in str(run) and "extra_calls" in run.table(every=True)
    words = told({**found, "shown": shown}, ("pass_rate", "calls_right", "extra_calls", "shown"))
    return Seen(words, shown and (found.get("extra_calls") or 0) > 0)


@line(
    "After the gold calls one is made that changes the world: in a shop, in toolsandbox-sample",
    "solved; with junk in toolsandbox-sample 42 of 53; no figure of it, and no cause",
    "`extra_effects` in the first table, of every such task; not solved; explain has the cause",
)
def extra_effects(lab: Lab) -> Seen:
    bench = seal.Benchmark(
        "shop",
        environment=SHOP,
        tasks=[seal.ask("Sell seat 2.", seal.called("sell", seat=2), answer="sold")],
    )
    calls = [("sell", {"seat": 2}), ("cancel", {"order_id": "8"})]
    shop = lab.play(bench, Says(lambda task: calls, "It is sold."), team="direct")
    causes = {cause for one in seal.explain(shop).content["stages"] for cause in one["causes"]}
    found = {**means(shop), "causes": sorted(causes)}
    phone = lab.play("toolsandbox-sample", Planted(one_change_more))
    acted, effects = changed(phone), valued(phone, "extra_effects")
    seen = sum(bool(effects.get(task)) for task in acted)
    shown = all("extra_effects" in str(run) for run in (shop, phone))
    words = f"shop: {told(found, ('pass_rate', 'extra_effects', 'causes'))}; "
    words += f"phone: in {seen} of {len(acted)} tasks; shown {shown}"
    in_shop = found["pass_rate"] == 0 and found.get("extra_effects") == 1
    in_shop = in_shop and any("extra" in cause for cause in causes)
    return Seen(words, in_shop and shown and len(acted) > 10 and seen == len(acted))


@line(
    "In a shop gold sells a seat; the agent sells it, takes that back, and states the right answer",
    "solved",
    "not solved, also without any call; solved where the seat is sold again",
)
def lost_effects(lab: Lab) -> Seen:
    bench = seal.Benchmark(
        "shop",
        environment=SHOP,
        tasks=[seal.ask("Sell seat 2.", seal.called("sell", seat=2), answer="sold")],
    )
    sold, back = ("sell", {"seat": 2}), ("give_back", {"seat": 2})
    ways = {"taken back": [sold, back], "no call": [], "sold again": [sold, back, sold]}
    found = {
        name: lab.says(bench, *calls, answer="It is sold.")["pass_rate"]
        for name, calls in ways.items()
    }
    return as_wanted({"taken back": 0.0, "no call": 0.0, "sold again": 1.0}, found)


@line(
    "`seal run bf --select group=multi_turn_base`: BFCL's dialogues without their classes",
    "played against a template: 800 dialogues scored without state, no warning",
    "refused or left out, with the reason and the repair",
    upstream=True,
)
def missing_world(lab: Lab) -> Seen:
    if find_spec("bfcl_eval"):
        raise NotHeldError("bfcl_eval is installed, so that its world is there")
    documents = (
        *("gorilla_file_system", "math_api", "message_api", "posting_api", "ticket_api"),
        *("trading_bot", "travel_booking", "vehicle_control"),
    )
    base = "BFCL_v4_multi_turn_base.json"
    files = (base, f"possible_answer/{base}", *(f"multi_turn_func_doc/{d}.json" for d in documents))
    data = lab.upstream("bfcl", *files) / "bfcl"
    seal.import_benchmark("bfcl", data, out=lab.folder / "bf")
    words = ("--select", "group=multi_turn_base", "--model", "oracle", "--no-baselines")
    done = lab.command("run", "bf", *words)
    said = done.stderr.strip().removeprefix("seal: ")
    repair = "--environment bfcl" in said and "bfcl-eval" in said
    return Seen(f"exit code {done.returncode}: {said[:160]} ...", done.returncode == 2 and repair)


# -- What must befall all gold of the samples.


def goals_of(lab: Lab, error: dict[str, JSON]) -> Iterator[tuple[str, float, float | None]]:
    """Yield each score of success of goals whose gold has calls: as played, and if these fail."""
    for name in SAMPLES:
        run = lab.play(name, first=10)
        tasks, tools = {task.id: task for task in run.folder.tasks()}, dict(run.folder.tools())
        for chat in run.folder.trajectories():
            made = (step for step, _ in chat.calls() if step.author != USER)
            called = {step.goal for step in made if step.call and step.call.tool}
            before, after = (
                {
                    (score.goal, score.metric): score.value
                    for score in score_trajectory(tasks[one.task_id], one, tools, usual_metrics())
                }
                for one in (chat, failing(chat, error))
            )
            for (goal, metric), value in before.items():
                if goal in called and metric in SUCCESS and value is not None:
                    yield metric, value, after[goal, metric]


@line(
    "All gold calls that the oracle makes in the samples are refused by their tools",
    "not tried",
    "no metric of success stays at 1",
)
def every_gold_call_refused(lab: Lab) -> Seen:
    solved = [(metric, now) for metric, value, now in goals_of(lab, REFUSED) if value == 1]
    stay = [metric for metric, now in solved if now == 1]
    words = f"{len(stay)} of {len(solved)} scores stay at 1 {', '.join(sorted(set(stay)))}"
    return Seen(words.strip(), len(solved) > 100 and not stay)


@line(
    "All these calls meet an outage in a recording",
    "not tried",
    "no metric of calls falls",
)
def every_gold_call_in_an_outage(lab: Lab) -> Seen:
    found = [one for one in goals_of(lab, OUTAGE) if one[0] in OF_CALLS]
    fell = [metric for metric, value, now in found if now is None or now < value]
    words = f"{len(fell)} of {len(found)} scores fall {', '.join(sorted(set(fell)))}"
    return Seen(words.strip(), len(found) > 100 and not fell)


@line(
    "In toolsandbox-sample, after the gold calls one is made that changes the phone",
    "not tried",
    "no task stays solved",
)
def every_world_changed(lab: Lab) -> Seen:
    run = lab.play("toolsandbox-sample", Planted(one_change_more))
    acted, verdicts = changed(run), valued(run, "pass_rate")
    stay = [task for task in sorted(acted) if verdicts[task] == 1]
    words = f"{len(stay)} of {len(acted)} tasks stay solved {', '.join(stay[:3])}"
    return Seen(words.strip(), len(acted) > 10 and not stay)
