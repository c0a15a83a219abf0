"""The recorded ToolLLaMA-2 runs: findings that were read beside the conversation, by hand.

No text of the data stands here: only which step of which run is what.
"""

from collections import Counter
from pathlib import Path

import pytest
from once import Once

from seal.core import Tool, Trajectory
from seal.core.records import read_records
from seal.evaluation.error_patterns import StepNote, diagnose

RUNS = "toolbench/toolllama2_answers"

READ = [
    ("G2_instruction/26341", 8, "RAC", "unsubscribed"),
    ("G1_tool/85530", 4, "RAC", None),
    ("G3_instruction/8334", 6, "RAC", "unsubscribed"),
    ("G2_instruction/74097", 6, "IAT", "unsubscribed"),
    ("G2_category/4109", 8, "RAC", "gone"),
    ("G2_category/13592", 8, "IFE", None),
    ("G3_instruction/8032", 6, "IAN", None),
    ("G2_instruction/11629", 8, "RAC", "unsubscribed"),
    ("G3_instruction/5863", 6, "RAC", "unsubscribed"),
    ("G2_category/33481", 8, "RAC", None),
    ("G2_instruction/54793", 8, "RAC", "unsubscribed"),
    ("G2_category/21456", 6, "RAC", "unsubscribed"),
    ("G3_instruction/13441", 4, "RAC", "unsubscribed"),
    ("G3_instruction/9332", 6, "RAC", "unauthorized"),
    ("G2_instruction/44321", 4, "RAC", None),
    ("G2_category/50872", 6, "RAC", "unauthorized"),
    ("G2_instruction/12464", 4, "RAC", None),
    ("G2_instruction/54739", 6, "RAC", "unsubscribed"),
    ("G2_instruction/9957", 4, "RAC", "unreachable"),
    ("G2_category/13963", 6, "RAC", "gone"),
    ("G2_category/42608", 4, "RAC", "unsubscribed"),
    ("G2_instruction/58500", 4, "RAC", "unreachable"),
    ("G2_instruction/78838", 6, "service", "unsubscribed"),
    ("G1_tool/78791", 4, "service", "unsubscribed"),
    ("G2_category/71819", 8, "service", "unsubscribed"),
    ("G1_category/68448", 6, "service", "unreachable"),
    ("G2_instruction/87064", 2, "service", "unauthorized"),
    ("G3_instruction/19274", 6, "service", "unsubscribed"),
    ("G1_tool/13495", 2, "service", "unsubscribed"),
    ("G2_instruction/7257", 4, "service", "unsubscribed"),
    ("G3_instruction/13780", 2, "service", "unsubscribed"),
    ("G2_instruction/86291", 2, "service", "unsubscribed"),
    ("G2_category/42729", 2, "service", "unsubscribed"),
    ("G2_instruction/79476", 8, "service", "unsubscribed"),
    ("G2_instruction/54793", 2, "service", "gone"),
    ("G1_instruction/44238", 2, "service", "unsubscribed"),
    ("G2_instruction/21802", 2, "IFE", None),
    ("G2_category/21441", 8, "IFE", None),
    ("G2_instruction/62997", 8, "IFE", None),
    ("G1_category/4343", 6, "IFE", None),
    ("G1_category/38045", 2, "IFN", None),
    ("G2_instruction/26916", 6, "IFN", "gone"),
    ("G1_category/71741", 2, "IFN", None),
    ("G2_category/29701", 8, "IFN", None),
    ("G2_instruction/54778", 8, "IAN", "unauthorized"),
    ("G1_category/77108", 4, "IAN", "unsubscribed"),
    ("G2_instruction/33950", 4, "IAN", None),
    ("G1_tool/69972", 2, "IAT", "unsubscribed"),
    ("G1_instruction/32807", 4, "IAT", "unsubscribed"),
    ("G1_tool/11924", 2, "IAT", "unsubscribed"),
    ("G2_instruction/67887", 4, "IAV", None),
    ("G2_instruction/67889", 8, "IAV", None),
    ("G1_tool/31708", 2, "IAV", None),
    ("G1_instruction/13095", 2, "refused", None),
    ("G1_category/3995", 6, "refused", None),
    ("G2_category/55", 2, "refused", None),
    ("G2_category/29601", 6, "refused", None),
    ("G1_category/4343", 4, "valid", None),
    ("G2_category/71667", 2, "valid", None),
    ("G1_instruction/31117", 2, "valid", None),
    ("G1_instruction/5815", 4, "valid", None),
]
"""Task, step, kind, service: 36 drawn from all findings of errors and of other calls alike, 25 from
each of the rarer kinds. All are as the conversation has them. The two of `cep_brazil` are services
whose own login failed, in Portuguese, which the rules leave open."""


class Recorded:
    """All runs with a chain, and what was found in them."""

    def __init__(self, folder: Path) -> None:
        tools = {tool.id: tool for tool in read_records(folder / "tools.jsonl", Tool)}
        path = folder / "recorded" / "toolllama-2" / "trajectories.jsonl"
        self.runs = list(read_records(path, Trajectory))
        found = {run.task_id: diagnose(run, tools) for run in self.runs}
        self.findings: dict[str, list[StepNote]] = {
            task: [f for f in findings if f.call is not None] for task, findings in found.items()
        }


@pytest.fixture(scope="module")
def recorded(seal_data: Path, request: pytest.FixtureRequest, once: Once) -> Recorded:
    if not (seal_data / RUNS).is_dir():
        pytest.skip(f"no {RUNS} in {seal_data}")
    pool, _ = request.getfixturevalue("toolbench_pool")
    found: Recorded = once.made("diagnosed", lambda folder: Recorded(pool))[1]
    return found


def test_all_runs_are_diagnosed(recorded: Recorded) -> None:
    assert len(recorded.runs) == 928


@pytest.mark.parametrize(("task", "step", "kind", "service"), READ)
def test_a_finding_is_what_the_conversation_shows(
    recorded: Recorded, task: str, step: int, kind: str, service: str | None
) -> None:
    (found,) = [f for f in recorded.findings[task] if f.step == step]
    assert (found.kind, found.service) == (kind, service)


def test_dead_services_are_told_from_the_models_own_faults(recorded: Recorded) -> None:
    every = [f for findings in recorded.findings.values() for f in findings]
    assert Counter(f.kind for f in every) == {
        "service": 1499,
        "RAC": 591,
        "valid": 176,
        "IFN": 52,
        "IAN": 51,
        "IAT": 37,
        "IFE": 32,
        "refused": 26,
        "IAV": 6,
    }
    assert Counter(f.service for f in every if f.valid and f.service) == {
        "unsubscribed": 1360,
        "gone": 277,
        "unauthorized": 254,
        "unreachable": 115,
        "empty": 17,
        "limited": 13,
        "broken": 7,
    }


def test_every_result_that_says_unsubscribed_is_a_dead_service(recorded: Recorded) -> None:
    for run in recorded.runs:
        said = {s.index for s in run.steps if s.result and "not subscribed" in s.content}
        for found in recorded.findings[run.task_id]:
            if found.answered in said and found.valid:
                assert found.service == "unsubscribed"
