"""`seal runs` lists what was played, `seal doctor` what is installed and set."""

import json
import shutil

import seal as api
from seal.cli.dispatch import main


def test_runs_are_listed_with_their_first_metric(seal, tmp_path):
    api.run("sample", first=2, out=tmp_path / "runs" / "lab" / "one")
    shutil.copytree(tmp_path / "runs" / "lab" / "one", tmp_path / "runs" / "cut")
    (tmp_path / "runs" / "cut" / "summary.json").unlink()
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "run.json").write_text("{")

    done = seal("runs")

    assert done.returncode == 0
    rows = [[cell.strip() for cell in line.split("│")[1:5]] for line in done.stdout.splitlines()]
    assert sorted(row for row in rows if row) == [
        ["runs/bad", "", "", "damaged"],
        ["runs/cut", "sample", "lexical", "not scored"],
        ["runs/lab/one", "sample", "lexical", "pass_rate 0.500 [0.026, 0.974]"],
    ]
    assert "runs/bad/run.json is no JSON" in done.stdout
    told = json.loads(seal("runs", "runs/lab", "--json").stdout)["runs"]
    assert [(run["metric"], run["mean"], run["tasks"]) for run in told] == [("pass_rate", 0.5, 2)]


def test_runs_are_listed_with_the_settings_in_which_they_differ(seal, tmp_path):
    for top_k in (1, 5):
        api.run("sample", first=1, top_k=top_k, baselines=False, out=tmp_path / f"runs/{top_k}")
    api.run("mmtb-sample", first=1, baselines=False, format="json", out=tmp_path / "runs/other")
    shown = seal("runs", COLUMNS="140").stdout
    assert "top_k 1" in shown and "top_k 5" in shown
    assert "format" not in shown  # in which no two runs of a benchmark differ


def test_names_of_runs_and_benchmarks_stay_whole_at_80_columns(seal, tmp_path):
    name = "runs/a-name-of-a-run-that-takes-half-of-a-line"
    assert seal("run", "--limit", 1, "--no-baselines", "--out", name).returncode == 0
    for words, whole in (
        (["runs"], (name, "pass_rate")),
        (["benchmarks"], ("toolsandbox-sample", "stabletoolbench", "xlam-function-calling-60k")),
    ):
        shown = seal(*words, COLUMNS="80").stdout
        assert all(word in shown for word in whole)


def test_no_runs_and_no_folder_are_told(seal, tmp_path):
    (tmp_path / "runs").mkdir()
    assert seal("runs").stdout == "no run lies below runs\n"
    missing = seal("runs", "elsewhere")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "there is no folder elsewhere; give the one that runs lie in" in missing.stderr


def test_the_doctor_tells_what_is_there_and_no_key(seal, tmp_path):
    endpoint = 'base_url = "http://localhost:8000/v1"\nkey_env = "LOCAL_KEY"\n'
    (tmp_path / "seal.toml").write_text(f"[endpoints.local]\n{endpoint}")

    done = seal("doctor", "--json", LOCAL_KEY="secret-of-mine", SEAL_DATA=str(tmp_path / "data"))
    told = json.loads(done.stdout)

    assert told["seal"]["version"] == api.__version__
    assert told["extra"]["worlds"] == "installed"
    assert told["key"]["LOCAL_KEY"] == "set"
    assert told["key"]["OPENAI_API_KEY"] == "not set"
    assert told["endpoint"] == {"local": "http://localhost:8000/v1"}
    assert "not there yet" in told["folder"]["SEAL_DATA"]
    assert "secret-of-mine" not in done.stdout + done.stderr
    assert "LOCAL_KEY" in seal("doctor").stdout


def test_the_doctor_looks_on_where_there_is_no_place_for_answers(monkeypatch, capsys):
    def nowhere(*_, **__):
        raise RuntimeError("no home")

    monkeypatch.delenv("SEAL_CACHE_DIR", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", nowhere)
    assert main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"]["answers"] == "no cache folder: no home; or set SEAL_CACHE_DIR"
