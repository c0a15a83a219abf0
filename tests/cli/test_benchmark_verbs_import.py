"""`seal import` and the verbs that list what there is."""

import json
from pathlib import Path

import pytest


def test_the_lists_are_json_where_asked(seal) -> None:
    models = json.loads(seal("models", "--json").stdout)["models"]
    assert models.keys() >= {"lexical", "oracle", "openai"}
    benchmarks = json.loads(seal("benchmarks", "--json").stdout)
    assert "sample" in benchmarks["shipped"]
    assert "toolbench" in benchmarks["importers"]


def test_the_lists_are_readable(seal) -> None:
    assert "the floor" in seal("models").stdout
    assert "sample" in seal("benchmarks").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tolbench", "."], "Did you mean 'toolbench'?"),
        (["toolbench", "nowhere"], "no file or folder nowhere"),
        (["toolbench", ".", "-T", "colour=red"], "no option -T of toolbench 'colour'"),
    ],
)
def test_what_cannot_be_imported_is_one_clear_line(seal, words: list[str], says: str) -> None:
    failed = seal("import", *words, "--out", "pool")
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_real_files_become_a_pool(seal, seal_data: Path, tmp_path: Path) -> None:
    done = seal("import", "toolbench", seal_data / "stabletoolbench", "--out", "pool", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["tasks"] == 762
    assert json.loads((tmp_path / "pool" / "import.json").read_bytes()) == report
    again = seal("import", "toolbench", seal_data / "stabletoolbench", "--out", "pool")
    assert "tasks: 762" in again.stdout
    assert "seal run pool" in again.stdout


def test_a_pool_without_tasks_is_not_offered_for_play(seal, tmp_path: Path) -> None:
    document = {
        "domain": "Forecast",
        "framework": "PyTorch",
        "functionality": "Tide forecast",
        "api_name": "tide_net",
        "api_call": "torch.hub.load('tides')",
        "description": "Forecasts tides.",
    }
    source = tmp_path / "source"
    source.mkdir()
    (source / "torchhub_api.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    (source / "torchhub_eval.json").touch()
    done = seal("import", "apibench", "source", "--out", "pool")
    assert done.returncode == 0, done.stderr
    assert "tasks: 0" in done.stdout
    assert "no tasks to play; look for faults: seal lint pool" in done.stdout
    assert "seal run" not in done.stdout


def test_a_benchmark_of_any_folder_says_what_applies_and_leaves_nothing_blank(seal) -> None:
    told = seal("benchmarks", "beir").stdout
    assert "files: any folder of this layout" in told
    assert "counts: depend on the folder" in told
    assert "calls no gold" in told


def test_malformed_records_are_placed_in_what_is_printed(seal, tmp_path) -> None:
    folder = tmp_path / "corpus"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "Tides."}\n{"_id": "d2"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "How high?"}\n')
    (folder / "qrels" / "test.tsv").write_text("q1\td1\t1\n")
    done = seal("import", "beir", folder, "--out", "pool")
    assert done.returncode == 0, done.stderr
    assert "dropped: malformed_document 1" in done.stdout
    assert "left out: corpus.jsonl, line 2: document 'd2' has no field 'text'" in done.stdout


def test_an_option_of_the_play_is_refused_with_the_verb_that_takes_it(seal):
    done = seal("import", "toolsandbox", ".", "--out", "out", "-T", "web=simulator")
    assert done.returncode == 2
    assert "no option -T of toolsandbox 'web'" in done.stderr
    assert "'seal run'" in done.stderr
