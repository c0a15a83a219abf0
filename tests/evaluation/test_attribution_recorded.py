"""Attributions of the recorded ToolLLaMA-2 runs, read beside the conversation by hand.

No text of the data stands here: only which goal failed at which stage, and what was seen there, in
words of our own.
"""

import shutil
from pathlib import Path

import pytest
from once import Once

import seal
from seal.core import Task, write_records
from seal.core.records import read_records

RUNS = "toolbench/toolllama2_answers"

READ = [
    # the second call was right, and the service had no subscription; a garbled name stood before
    ("G1_instruction/72373", "tool_error", "unsubscribed", 6),
    ("G1_tool/56049", "tool_error", "unsubscribed", 2),
    # a garbled name first; the tools that were then called were not subscribed to
    ("G1_tool/58826", "tool_error", "unsubscribed", 4),
    ("G1_instruction/1856", "tool_error", "unsubscribed", 6),
    ("G1_instruction/47838", "tool_error", "unsubscribed", 2),
    ("G2_instruction/38571", "tool_error", "unsubscribed", 2),
    ("G1_category/29592", "tool_error", "unsubscribed", 2),
    # the API no longer exists, says each answer
    ("G1_category/62960", "tool_error", "gone", 2),
    ("G1_instruction/7658", "tool_error", "unreachable", 4),
    ("G1_instruction/86143", "tool_error", "unsubscribed", 2),
    # tells how the tools would be used, and calls none
    ("G1_tool/8129", "undecided", "", None),
    ("G2_category/72339", "undecided", "", None),
    ("G1_tool/83532", "not_called", "no_call", None),
    # lists versions that it made up
    ("G1_category/86535", "undecided", "", None),
    ("G1_tool/70359", "wrong_tool", "unknown_name", 2),
    # asks a catalogue of games for a category that it does not have, four times
    ("G2_instruction/18736", "wrong_tool", "other_tool", 2),
    # the first tool's endpoint was gone; the names after it came to nothing
    ("G2_instruction/12768", "tool_error", "gone", 2),
    ("G1_category/71741", "wrong_tool", "unknown_name", 2),
    ("G2_instruction/21802", "wrong_tool", "unknown_name", 2),
    # the program behind the tool says which argument it lacks
    ("G2_instruction/34406", "wrong_argument", "missing_argument", 2),
    ("G1_tool/31708", "wrong_argument", "missing_argument", 2),
    # a latitude with decimals where the document has whole numbers
    ("G2_instruction/12471", "undecided", "", None),
    # one of two relevant tools answered, and the answer says what it said
    ("G1_category/12671", "undecided", "", None),
    ("G1_instruction/56226", "undecided", "", None),
    ("G1_category/46662", "undecided", "", None),
    ("G1_category/28", "undecided", "", None),
    ("G3_instruction/11645", "tool_error", "unauthorized", 4),
    # the recording has no answer to these calls, though the final answer tells of them
    ("G1_tool/40611", "infrastructure", "unrecorded", 2),
    ("G2_instruction/29346", "tool_error", "unauthorized", 6),
    ("G2_category/33295", "tool_error", "unreachable", 6),
]
"""Task, stage, cause, step: 10 drawn from all 928, 4 from each of not called, wrong tool, wrong
argument and unsure, the others from tool errors that are neither unsubscribed nor gone. A goal of
which the judge by rule is unsure is undecided and has no stage. Where they
were wrong when first read, the rules were mended: names that were not offered explain only what no
call of a tool follows, a dead service explains before an argument that it never read, calls without
a recorded answer are infrastructure, and the first of several dead tools counts."""


@pytest.fixture(scope="module")
def recorded(seal_data: Path, request: pytest.FixtureRequest, once: Once) -> dict[str, dict]:
    if not (seal_data / RUNS).is_dir():
        pytest.skip(f"no {RUNS} in {seal_data}")
    pool, _ = request.getfixturevalue("toolbench_pool")
    found: dict[str, dict] = once.made("attributed", lambda folder: attributed(pool, folder))[1]
    return found


def attributed(whole: Path, folder: Path) -> dict[str, dict]:
    """Play and explain the tasks that were read."""
    pool = shutil.copytree(whole, folder / "pool")
    wanted = {task for task, *_ in READ}
    tasks = [t for t in read_records(pool / "tasks.jsonl", Task) if t.id in wanted]
    write_records(pool / "tasks.jsonl", tasks)
    run = seal.run(
        pool,
        model="recorded:toolllama-2",
        simulator="recorded",
        baselines=False,
        out=folder / "run",
        cache_dir=folder / "cache",
    )
    explained = seal.explain(run).content
    assert explained["goals"] == len(READ)
    assert explained["undecided"] == sum(stage == "undecided" for _, stage, *_ in READ)
    return {row["task"]: row for row in explained["attributions"]}


@pytest.mark.parametrize(("task", "stage", "cause", "step"), READ)
def test_an_attribution_is_what_the_conversation_shows(
    recorded: dict[str, dict], task: str, stage: str, cause: str, step: int | None
) -> None:
    found = recorded.get(task, {"stage": "undecided", "cause": "", "step": None})
    assert (found["stage"], found["cause"], found["step"]) == (stage, cause, step)
