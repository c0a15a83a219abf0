"""`seal generate tools`: pools and tool lists, by the grammar and by a model's server."""

import json
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from servers import Answer, ModelServer, Received, failure, text

from seal import generate
from seal.cli import main
from seal.core import Completion, Lock, Request, Tool
from seal.pools import import_benchmark, load_pool
from seal.pools.lint import lint

LINES = """\
# Travel
search_hotels: Search hotels in a city between two dates.
Cancel a flight booking.
# Money
Convert an amount of money from one currency to another.
Calculate the monthly payment of a mortgage loan.
Send an invoice to a customer.
"""
FISH = "find_cod: Find cod near a harbour.\nfry_cod: Fry the cod.\n"

Seal = Callable[..., tuple[int, str, str]]


@pytest.fixture
def seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Seal:
    """Run a command in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    (tmp_path / "travel.txt").write_text(LINES)
    (tmp_path / "fish.txt").write_text(FISH)

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def report(done: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = done
    assert code == 0, err
    return json.loads(out)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def drafts(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "generation" / "drafts.jsonl").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def tools(folder: Path) -> list[Tool]:
    return list(load_pool(folder).tools())


# -- by the grammar


def test_a_pool_of_tools_and_a_task_for_each_is_written(seal: Seal, tmp_path: Path) -> None:
    told = report(seal("generate", "tools", "travel.txt", "--out", "pool", "--json"))
    assert (told["descriptions"], told["tools"], told["lists"], told["dropped"]) == (5, 5, 2, {})
    pool = load_pool(tmp_path / "pool")
    first = pool.tools()[0]
    assert (first.name, first.category) == ("search_hotels", "Travel")
    assert first.source["lists"] == [0]
    assert first.source["generated"] == {
        "by": {"writer": "grammar/1"},
        "seed": 0,
        "form": "seal",
        "description": "Search hotels in a city between two dates.",
        "place": "travel.txt, line 2",
        "tries": 1,
        "rejections": [],
    }
    assert [tool.source["lists"] for tool in pool.tools()] == [[0], [0], [1], [1], [1]]
    assert [task.goals[0].relevant for task in pool.tasks()] == [(t.id,) for t in pool.tools()]
    assert pool.report["generation"] == told
    assert (pool.name, pool.report["digest"]) == ("generated", pool.digest)


def test_a_written_pool_is_free_of_faults_and_played_by_the_oracle(
    seal: Seal, tmp_path: Path
) -> None:
    report(seal("generate", "tools", "travel.txt", "--out", "pool", "--json"))
    assert [f.kind for f in lint(tmp_path / "pool").findings] == []
    found = report(seal("retrieve", "pool", "--json"))
    assert found["pools"][0]["tasks"] == 5
    words = ["--model", "oracle", "--no-baselines", "--out", "run", "--json"]
    played = report(seal("run", "pool", *words))
    assert played["errors"] == 0
    assert played["metrics"]["call_f1"]["mean"] == 1.0


def test_tool_lists_are_what_upstream_has_and_hold_the_same_tools(
    seal: Seal, tmp_path: Path
) -> None:
    report(seal("generate", "tools", "travel.txt", "--out", "pool", "--json"))
    report(seal("generate", "tools", "travel.txt", "--out", "lists", "--form", "mmtb", "--json"))
    lines = (tmp_path / "lists" / "mmtb_tools_en.jsonl").read_text().splitlines()
    lists = [json.loads(line) for line in lines]
    assert [len(one) for one in lists] == [2, 3]
    assert lists[0][0].keys() == {"type", "function"}
    import_benchmark("mmtb", tmp_path / "lists", tmp_path / "imported")
    ours = {t.name: (t.description, t.parameters) for t in tools(tmp_path / "pool")}
    theirs = {t.name: (t.description, t.parameters) for t in tools(tmp_path / "imported")}
    assert ours == theirs


def test_equal_seeds_give_equal_bytes_and_another_seed_other_tools(
    seal: Seal, tmp_path: Path
) -> None:
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        report(seal("generate", "tools", "travel.txt", "--out", name, "--seed", seed, "--json"))
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert (tmp_path / "a" / "tools.jsonl").read_bytes() != (
        tmp_path / "c" / "tools.jsonl"
    ).read_bytes()


def test_further_descriptions_are_written_and_the_former_tools_stay(
    seal: Seal, tmp_path: Path
) -> None:
    report(seal("generate", "tools", "fish.txt", "--out", "pool", "--json"))
    before = tools(tmp_path / "pool")
    (tmp_path / "fish.txt").write_text(FISH + "Sell cod to a customer.\n")
    assert report(seal("generate", "tools", "fish.txt", "--out", "pool", "--json"))["tools"] == 3
    assert tools(tmp_path / "pool")[:2] == before


def test_a_person_is_shown_counts_and_what_to_do_next(seal: Seal) -> None:
    code, out, _ = seal("generate", "tools", "travel.txt", "--out", "pool")
    assert code == 0
    assert "tools: 5" in out
    assert "written to pool; next: seal lint pool" in out


# -- what cannot be


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.txt", "--out", "pool"], "no file nowhere.txt"),
        (["travel.txt", "--out", "pool", "--form", "seall"], "Did you mean 'seal'?"),
        (["travel.txt", "--out", "."], "lies inside ."),
        (["travel.txt", "--out", "full"], "full exists and holds something else"),
        (["travel.txt", "--out", "fish.txt"], "fish.txt exists and holds something else"),
        (["travel.txt", "--out", "pool", "--model", "oracle"], "writes no tools"),
        (["travel.txt", "--out", "pool", "-M", "temperature=1"], "name the model too"),
        (["travel.txt", "--out", "done"], "was made with another seed: 0, now 1"),
        (["twice.txt", "--out", "pool"], "line 2: the name 'a' stands at"),
        (["travel.txt"], "Missing option '--out'"),
    ],
)
def test_what_cannot_be_written_is_one_clear_line(
    seal: Seal, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("mine")
    (tmp_path / "twice.txt").write_text("a: Find cod.\na: Find eel.\n")
    seal("generate", "tools", "fish.txt", "--out", "done")
    seed = ["--seed", "1"] if "done" in words else []
    code, out, err = seal("generate", "tools", *words, *seed)
    assert (code, out) == (2, "")
    assert told in err
    assert not (tmp_path / "pool").exists()


def test_a_damaged_line_of_drafts_is_named(seal: Seal, tmp_path: Path) -> None:
    seal("generate", "tools", "fish.txt", "--out", "pool")
    path = tmp_path / "pool" / "generation" / "drafts.jsonl"
    path.write_bytes(path.read_bytes() + b'{"schema":"draft/1","id":1}\n')
    code, _, err = seal("generate", "tools", "fish.txt", "--out", "pool")
    assert (code, "drafts.jsonl, line 3: id" in err) == (2, True)


# -- by a model


def cod(name: str, **changes: Any) -> dict[str, Any]:
    kilos = {
        "type": "number",
        "description": "Weight of the cod in kilograms, at most 40.",
        "maximum": 40,
    }
    parameters = {"type": "object", "properties": {"kilos": kilos}, "required": ["kilos"]}
    right = {
        "name": name,
        "description": "Does something with cod.",
        "parameters": parameters,
        "examples": [{"kilos": 2}],
        "returns": {"type": "object", "properties": {"cod_id": {"type": "string"}}},
    }
    return {**right, **changes}


def says(value: Any) -> Answer:
    return text(json.dumps(value))


@pytest.fixture
def served(seal: Seal) -> Iterator[Callable[..., tuple[int, str, str, list[Received]]]]:
    """Write the tools of fish.txt by a model whose server gives these answers."""

    def call(*answers: Answer, out: str = "pool", descriptions: str = "fish.txt") -> Any:
        with ModelServer(list(answers)) as server:
            words = ["--model", "openai/any", "--base-url", server.url, "-M", "max_tries=1"]
            done = seal("generate", "tools", descriptions, "--out", out, *words, "--json")
            return *done, server.received

    return call


def test_a_model_writes_tools_and_is_asked_as_the_prompt_says(served: Any, tmp_path: Path) -> None:
    code, out, _, received = served(says(cod("find_cod")), says(cod("fry_cod")))
    assert (code, json.loads(out)["tools"]) == (0, 2)
    system, user = (message["content"] for message in received[1].body["messages"])
    assert "states in words each constraint" in system
    asked = {"does": "Fry the cod.", "name": "fry_cod", "names that are taken": ["find_cod"]}
    assert json.loads(user) == asked
    assert received[0].body["response_format"] == {"type": "json_object"}
    made = tools(tmp_path / "pool")[0].source["generated"]
    assert (made["by"]["writer"], made["by"]["model"]) == ("model/1", "openai/any")
    assert "127.0.0.1" not in (tmp_path / "pool" / "tools.jsonl").read_text()


def test_a_model_may_be_an_object(seal: Seal, tmp_path: Path) -> None:
    class Fisher:
        identity = "fisher/1"

        def complete(self, request: Request) -> Completion:
            asked = json.loads(request.messages[1].content)
            return Completion(json.dumps(cod(asked["name"])))

    told = generate("tools", "fish.txt", "pool", model=Fisher())
    assert (told["tools"], told["by"]["model"]) == (2, "fisher/1")


def test_a_rejected_draft_is_told_why_and_written_again(served: Any, tmp_path: Path) -> None:
    wrong = cod("find_cod", examples=[{"kilos": 41}])
    code, out, _, received = served(says(wrong), says(cod("find_cod")), says(cod("fry_cod")))
    assert (code, json.loads(out)["rejections"]) == (0, {"examples": 1})
    messages = received[1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "example 0: Argument 'kilos'" in messages[3]["content"]
    assert received[0].body["seed"] != received[1].body["seed"]
    first, second = drafts(tmp_path / "pool")
    assert json.loads(first["rejected"][0]["text"]) == wrong
    assert (first["rejected"][0]["faults"][0]["rule"], second["rejected"]) == ("examples", [])
    assert tools(tmp_path / "pool")[0].source["generated"]["tries"] == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (text("I would rather not."), "invalid_json"),
        (text('{"name": "find_cod", '), "invalid_json"),
        (text(""), "invalid_json"),
        (says([cod("find_cod")]), "invalid_json"),
        (says({"name": "find_cod"}), "fields"),
        (says(cod("find_cod", parameters={"type": "object"})), "schema"),
        (says(cod("find_eel")), "name"),
        (text("{" * 100, finish_reason="length"), "truncated"),
    ],
)
def test_three_useless_drafts_are_a_drop_that_is_counted_and_the_run_goes_on(
    served: Any, tmp_path: Path, answer: Answer, reason: str
) -> None:
    code, out, _, received = served(answer, answer, answer, says(cod("fry_cod")))
    told = json.loads(out)
    assert (code, told["tools"], told["dropped"]) == (0, 1, {reason: 1})
    assert (told["rejected_drafts"], len(received)) == (3, 4)
    assert [tool.name for tool in tools(tmp_path / "pool")] == ["fry_cod"]
    assert load_pool(tmp_path / "pool").report["dropped"] == {reason: 1}
    assert [one["dropped"] for one in drafts(tmp_path / "pool")] == [reason, ""]


def test_where_no_draft_is_good_there_is_no_pool_and_the_reasons_are_told(
    served: Any, tmp_path: Path
) -> None:
    code, _, err, _ = served(*[text("no")] * 6)
    assert code == 2
    assert "none of 2 descriptions became a tool (2 invalid_json)" in err
    assert not (tmp_path / "pool" / "tools.jsonl").exists()


def test_a_request_that_is_refused_is_a_drop_too(served: Any) -> None:
    refusal = failure(400, "flagged", code="content_filter")
    code, out, err, _ = served(refusal, says(cod("fry_cod")))
    assert code == 0, err
    assert json.loads(out)["dropped"] == {"refused": 1}


def test_when_the_server_fails_what_is_done_is_kept_and_gone_on_with(
    served: Any, tmp_path: Path
) -> None:
    code, _, err, _ = served(says(cod("find_cod")), failure(500))
    assert code == 1
    assert "500" in err
    assert not (tmp_path / "pool" / "tools.jsonl").exists()
    code, out, _, received = served(says(cod("fry_cod")))
    assert (code, len(received), json.loads(out)["tools"]) == (0, 1, 2)
    served(says(cod("find_cod")), says(cod("fry_cod")), out="whole")
    assert files(tmp_path / "pool") == files(tmp_path / "whole")


def test_what_a_server_repeats_of_a_key_and_what_json_cannot_hold_is_in_no_file(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame-open-thyself")
    told = cod("find_cod", description="Find cod, says sesame-open-thyself.")
    code, _, err, _ = served(text("Half \ud83c a pair."), says(told), says(cod("fry_cod")))
    assert code == 0, err
    written = files(tmp_path / "pool")
    assert not [name for name, content in written.items() if b"sesame" in content]
    assert tools(tmp_path / "pool")[0].description == "Find cod, says ***."


# -- killed


def test_a_killed_generation_goes_on_where_it_was(seal: Seal, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("".join(f"do_{n}: Fry cod {n} times.\n" for n in range(8)))
    with ModelServer(slow_cod) as server:
        words = ["--model", "openai/any", "--base-url", server.url, "--json"]
        script = Path(sysconfig.get_path("scripts")) / "seal"
        command = [script, "generate", "tools", "many.txt", "--out", "pool", *words]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        while len(server.received) < 4:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        path = tmp_path / "pool" / "generation" / "drafts.jsonl"
        kept = len(drafts(tmp_path / "pool"))
        with path.open("ab") as file:
            file.write(b'{"key": "torn')
        assert 2 <= kept <= 4
        asked = len(server.received)
        assert report(seal("generate", "tools", "many.txt", "--out", "pool", *words))["tools"] == 8
        assert len(server.received) - asked == 8 - kept


def slow_cod(request: Received) -> Answer:
    time.sleep(0.05)
    return says(cod(json.loads(request.body["messages"][1]["content"])["name"]))


def test_two_processes_do_not_write_into_one_folder(seal: Seal, tmp_path: Path) -> None:
    seal("generate", "tools", "fish.txt", "--out", "pool")
    with Lock(tmp_path / "pool" / "generation"):
        code, _, err = seal("generate", "tools", "fish.txt", "--out", "pool")
    assert code == 2
    assert f"another process (pid {os.getpid()}) is writing into pool" in err


def test_tools_that_do_the_same_have_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("".join(f"Find cod of harbour {n}.\n" for n in range(150)))
    told = generate("tools", path, tmp_path / "pool", seed=1)
    assert told["tools"] == 150
    assert len({tool.name for tool in tools(tmp_path / "pool")}) == 150
