"""The study of real models: answers of both forms, fences, and the page of kept verdicts."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIRST = "gorilla_openfunctions_v1_test"
VERDICTS = ROOT / "results" / "real_models.json.gz"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script; its folder is no place for the imports of other tests."""
    monkeypatch.syspath_prepend(str(ROOT / "perf"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return import_module("real_models")


def write(path: Path, *lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_answers_of_a_clone_have_their_verdicts_by_id_or_place(
    script: ModuleType, tmp_path: Path
) -> None:
    for category in script.FIRST:
        answers = [{"id": f"{category}_{n}", "result": "", "input_token_count": n} for n in (0, 1)]
        write(tmp_path / "result" / "m" / f"{FIRST}_{category}_result.json", *answers)
        wrong = {"id": 2} | (
            {} if category == "relevance" else {"prompt": {"id": answers[1]["id"]}}
        )
        write(tmp_path / "score" / "m" / f"{category}_score.json", {"accuracy": 0.5}, wrong)
    (found,) = script.models(tmp_path).values()
    told = list(script.answers_of(found))
    assert [one["valid"] for one in told] == [True, False] * len(script.FIRST)
    assert {one["tokens_in"] for one in told} == {0, 1}


def test_the_repack_says_what_upstreams_folders_say(script: ModuleType, seal_data: Path) -> None:
    folder = seal_data / "bfcl_runs"
    if not folder.is_dir():
        pytest.skip(f"no answers of real models: there is no {folder}")
    repack = script.models(folder)
    of_upstream = script.models(folder / "upstream_form")
    assert len(repack) == 71 and len(of_upstream) == 2
    for name, path in of_upstream.items():
        ours = {one["id"]: one for one in script.answers_of(path)}
        told = {one["id"]: one for one in script.answers_of(repack[name])}
        assert ours.keys() == told.keys() and len(ours) == 1390
        for part in ("result", "valid", "tokens_in", "tokens_out"):
            assert [one[part] for one in ours.values()] == [told[of][part] for of in ours]


@pytest.mark.parametrize(
    ("answer", "bare"),
    [
        ("```json\n[f(a=1)]\n```", "[f(a=1)]"),
        ("\n```\n[f(a=1)]\n``` and words", "[f(a=1)]"),
        ("```[f(a='python\n')]```", "[f(a='python\n')]"),
        ("[f(a='```')]", "[f(a='```')]"),
        ([{"f": "{}"}], [{"f": "{}"}]),
    ],
)
def test_a_fence_is_taken_off(script: ModuleType, answer: Any, bare: Any) -> None:
    assert script._without_fence(answer) == bare


def test_what_differs_from_the_record_is_counted(script: ModuleType) -> None:
    page = import_module("real_page")
    told = {
        "tasks": [[f"t{n}", "java"] for n in range(4)],
        "scores": {
            "recorded": {"one": "1100", "other": "1110", "third": "0000"},
            "bfcl": {"one": "1111", "other": "1110", "third": "0000"},
        },
    }
    found = page.differences(told)
    assert found.right.to_dict() == {"one": 2, "other": 0, "third": 0}
    assert found.recorded_rank.to_dict() == {"one": 2, "other": 1, "third": 3}
    assert found["rank"].to_dict() == {"one": 1, "other": 2, "third": 3}
    first, *_, said = [*page._recorded_parts(told, {"differ": 1, "total": 3})][:2]
    assert [row[0] for row in first.rows] == ["one", "other"]
    assert "2 of 12 answers are judged otherwise (java 2): 2 are right here alone" in said
    assert "The mean of 1 of 3 models differs, and the rank of 2, by 1 places at most" in said


@pytest.mark.slow
def test_the_page_is_that_of_the_kept_verdicts(script: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert script.main(["--kept", "--verdicts", str(VERDICTS), "--out", str(page)]) == 0
    assert page.read_text("utf-8") == (ROOT / "results" / "real_models.md").read_text("utf-8")
