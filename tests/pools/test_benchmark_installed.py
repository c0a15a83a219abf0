"""A benchmark of another distribution counts as one of ours, everywhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from forked import run as run_forked
from once import Once

TESTS = Path(__file__).resolve().parents[1]
WRITER = ("--model", "query_writer:QueryWriter")
"""A model that is a class of the tests."""
TICKETS = TESTS / "fixtures" / "ticket_office"


@pytest.fixture(scope="session")
def installed(once: Once, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the ticket office, installed as pip would."""

    def install(target: Path) -> None:
        source = tmp_path_factory.mktemp("tickets") / "source"
        shutil.copytree(TICKETS, source, ignore=shutil.ignore_patterns("__pycache__"))
        options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "--target", str(target)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)

    return once.made("tickets", install)[0]


def seal(*words: str, paths: tuple[Path, ...], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line where further distributions can be imported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    environment["SEAL_CACHE_DIR"] = str(cwd / "cache")
    return run_forked(["seal", *words], cwd=cwd, env=environment)


@pytest.fixture(scope="module")
def played(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with two runs of the ticket office."""
    folder = tmp_path_factory.mktemp("played")
    for model in ("oracle", "lexical"):
        words = ("run", "tickets", "--model", model, "--out", model)
        done = seal(*words, paths=(installed,), cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / f"{model}.txt").write_text(done.stdout)
    return folder


def test_it_takes_at_most_120_lines() -> None:
    (module,) = TICKETS.rglob("*.py")
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 120


def test_its_world_is_played_and_its_tables_change(played: Path) -> None:
    lines = (played / "oracle" / "trajectories.jsonl").read_text().splitlines()
    sold = next(step for step in json.loads(lines[0])["steps"] if step["result"])
    assert sold["state"]["tickets"][-1] == {"show": "Hamlet", "name": "Bo"}
    summary = json.loads((played / "oracle" / "summary.json").read_bytes())
    assert summary["metrics"]["similarity"]["mean"] == 1.0


def test_its_headline_leads_the_short_table(played: Path) -> None:
    shown = (played / "oracle.txt").read_text().partition("┏")[2]
    first, second, third = (shown.index(name) for name in ("similarity", "honest", "call_f1"))
    assert first < second < third
    assert "recall@10" not in shown


def test_its_section_and_its_papers_table_stand_in_the_report(played: Path) -> None:
    page = (played / "oracle" / "report.html").read_text()
    assert "Tickets" in page
    assert "oracle: 1 sold" in page
    assert "Office et al. 2026, Table 1, p. 4" in page
    assert "93.0" in page
    assert "100.0" in page


def test_it_is_listed_as_one_of_others(installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed), "SEAL_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "seal", "benchmarks", "--json"]
    told = subprocess.run(words, capture_output=True, check=True, cwd=tmp_path, env=environment)
    listed = json.loads(told.stdout)
    assert listed["others"] == ["tickets"]
    assert "tickets" not in listed["shipped"]


def test_its_papers_table_is_printed_with_runs_beside_it(installed: Path, played: Path) -> None:
    told = seal("paper", "tickets", "oracle", "lexical", "--json", paths=(installed,), cwd=played)
    (table,) = json.loads(told.stdout)["tables"]
    figures = {row["name"]: row["figures"] for row in table["rows"] if row["name"]}
    assert figures["Clerk"] == {"Honesty": 93.0, "Sold": 12}
    assert figures["oracle"] == {"Honesty": 100.0, "Sold": 1}
    alone = seal("paper", "tickets", "oracle", "--json", paths=(), cwd=played)
    (table,) = json.loads(alone.stdout)["tables"]
    assert table["rows"][1]["figures"] == {"Honesty": 100.0}


def test_its_success_decides_explanations_and_comparisons(installed: Path, played: Path) -> None:
    told = seal("explain", "lexical", "--json", paths=(installed,), cwd=played)
    assert json.loads(told.stdout)["decided_by"] == {"honest": 2}
    told = seal("compare", "lexical", "oracle", "--json", paths=(installed,), cwd=played)
    compared = json.loads(told.stdout)
    assert compared["pairs"][0]["success"] == "honest"
    assert compared["protocol"]["family"] == ["similarity", "honest", "call_f1"]


def test_it_is_scored_again_and_linted(installed: Path, played: Path) -> None:
    before = (played / "oracle" / "scores.jsonl").read_bytes()
    assert seal("score", "oracle", paths=(installed,), cwd=played).returncode == 0
    assert (played / "oracle" / "scores.jsonl").read_bytes() == before
    linted = seal("lint", "tickets", "--json", paths=(installed,), cwd=played)
    assert linted.returncode == 0, linted.stderr


def test_pools_that_are_made_of_it_are_played_in_its_world(installed: Path, tmp_path: Path) -> None:
    paths = (installed, TESTS)
    made = seal(
        *("generate", "queries", "--tools", "tickets", "--out", "made", *WRITER),
        paths=paths,
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    words = ("run", "made", "--model", "oracle", "--no-baselines", "--out", "run")
    done = seal(*words, paths=paths, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert seal("lint", "made", paths=paths, cwd=tmp_path).returncode == 0
    refused = seal(*words[:-1], "other", paths=(), cwd=tmp_path)
    assert "no world 'tickets'" in refused.stderr


def test_its_run_is_readable_where_it_is_not_installed(played: Path) -> None:
    told = seal("report", "oracle", "--out", "moved.html", paths=(), cwd=played)
    assert told.returncode == 0, told.stderr
    assert "Office et al. 2026" in (played / "moved.html").read_text()
    again = seal("score", "lexical", paths=(), cwd=played)
    assert "the benchmark tickets, whose metrics they are, is not installed" in again.stderr


def distribution(folder: Path, name: str, entry: str, code: str) -> Path:
    """Write an installed distribution that offers one benchmark."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[seal.benchmarks]\n{entry} = {name}:BENCHMARK\n")
    (folder / f"{name}.py").write_text(code)
    return folder


@pytest.mark.slow
def test_a_pack_that_fails_to_import_is_named_and_disturbs_no_other(tmp_path: Path) -> None:
    broken = distribution(tmp_path / "a", "broken_pack", "broken", "import no_such_module\n")
    failed = seal("run", "broken", paths=(broken,), cwd=tmp_path)
    assert failed.returncode == 2
    assert "the benchmark 'broken' fails to import" in failed.stderr
    assert "no_such_module" in failed.stderr
    assert seal("run", "--limit", "1", paths=(broken,), cwd=tmp_path).returncode == 0
    assert seal("paper", "seal", paths=(broken,), cwd=tmp_path).returncode == 0
    assert "fails to import" in seal("paper", "broken", paths=(broken,), cwd=tmp_path).stderr


@pytest.mark.slow
def test_what_lists_all_packs_tells_a_broken_one_and_goes_on(tmp_path: Path) -> None:
    broken = distribution(tmp_path / "a", "broken_pack", "broken", "import no_such_module\n")
    listed = seal("benchmarks", paths=(broken,), cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    told = " ".join(listed.stdout.split())
    assert "broken: the benchmark 'broken' fails to import: " in told
    assert "'no_such_module', which is not installed; install it; or uninstall broken_pack" in told
    content = json.loads(seal("benchmarks", "--json", paths=(broken,), cwd=tmp_path).stdout)
    assert list(content["broken"]) == ["broken"]
    assert "sample" in content["shipped"]
    for words in (
        ("export", "sample", "--to", "hf", "--out", "x"),
        ("generate", "queries", "--tools", "sample", "--limit", "1", "--out", "made", *WRITER),
    ):
        other = seal(*words, paths=(broken, TESTS), cwd=tmp_path)
        assert other.returncode == 0, other.stderr
    one = seal("benchmarks", "broken", paths=(broken,), cwd=tmp_path)
    assert one.returncode == 2
    assert "uninstall broken_pack" in one.stderr


POEMS = '''
from dataclasses import dataclass
from pathlib import Path

import seal
from seal.pools.declarations import Generator


@dataclass(frozen=True, kw_only=True)
class Rhymes:
    """Rhymes: what is made."""

    count: int = 2
    """Number of rhymes."""
    seed: int = 0


@dataclass(frozen=True)
class Mute:
    """Mute: what has no help."""

    loudness: int = 2


@dataclass(frozen=True)
class Silent:
    """Silence."""

    length: int = 2
    """Number of seconds."""


def make(bench, out, **settings):
    """Write odes."""
    made = {"of": bench, **settings}
    Path(out).write_text(str(made))
    return made


def drawn(bench, out, progress, **settings):
    progress(1, 1)
    return make(bench, out, **settings)


BENCHMARK = seal.Benchmark(
    "poems",
    generators={
        "rhymes": Generator(make=drawn, about="Write rhymes.", settings=Rhymes, stage="rhymes"),
        "odes": make,
        "silence": Generator(make=lambda *a, **b: b, about="Write nothing.", settings=Silent),
        "mute": Generator(make=make, about="Write nothing.", settings=Mute),
    },
)
'''


def test_a_generator_of_another_distribution_has_the_flags_of_its_settings(tmp_path: Path) -> None:
    poems = (distribution(tmp_path / "a", "poems_pack", "poems", POEMS),)
    told = seal("generate", "rhymes", "--help", paths=poems, cwd=tmp_path)
    for text in (
        "Write rhymes.",
        "Rhymes:",
        "Number of rhymes.  [default: 2]",
        "Seed of everything",
    ):
        assert text in told.stdout
    assert (
        "mute has no command: Mute: the field 'loudness' has no help; write a string" in told.stderr
    )
    words = ("generate", "rhymes", "sample", "--out", "rhymes", "--count")
    made = seal(*words, "3", paths=poems, cwd=tmp_path)
    assert made.stdout.startswith("of: sample\ncount: 3\nseed: 0\nwritten to rhymes; ")
    assert (tmp_path / "rhymes").read_text() == str({"of": "sample", "count": 3, "seed": 0})
    refused = seal(*words, "three", paths=poems, cwd=tmp_path)
    assert (refused.returncode, "'--count': expected a whole number" in refused.stderr) == (2, True)
    assert "benchmark poems: generate mute has no command" in refused.stderr
    told = seal("generate", "silence", "sample", "--out", "none", paths=poems, cwd=tmp_path)
    assert told.stdout.endswith("nothing was written to none\n")
    titled = seal("generate", "silence", "--help", paths=poems, cwd=tmp_path).stdout
    assert "\nSilence:\n" in titled
    listed = seal("generate", "--help", paths=poems, cwd=tmp_path).stdout
    assert "Write odes." in listed
    assert "Make harder queries" in listed


def test_two_packs_of_one_name_are_both_named(tmp_path: Path) -> None:
    code = "BENCHMARK = lambda source, notes: iter(())\n"
    packs = [distribution(tmp_path / n, f"pack_{n}", "twin", code) for n in ("a", "b")]
    failed = seal("run", "twin", paths=tuple(packs), cwd=tmp_path)
    assert failed.returncode == 2
    assert "pack_a and pack_b both offer the benchmark 'twin'; uninstall one" in failed.stderr


def test_what_is_no_benchmark_is_told(tmp_path: Path) -> None:
    odd = distribution(tmp_path / "a", "odd_pack", "odd", "BENCHMARK = 3\n")
    failed = seal("run", "odd", paths=(odd,), cwd=tmp_path)
    assert failed.returncode == 2
    assert "the benchmark 'odd' is 3; expected a seal.Benchmark" in failed.stderr
    assert "or an importer, from odd_pack" in failed.stderr


def test_a_name_of_ours_stays_ours_and_the_other_one_is_named(tmp_path: Path) -> None:
    other = distribution(tmp_path / "a", "second_sample", "sample", "BENCHMARK = 3\n")
    listed = seal("benchmarks", "--json", paths=(other,), cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "sample" in json.loads(listed.stdout)["importers"] + json.loads(listed.stdout)["shipped"]
    assert listed.stderr.count("second_sample offers the benchmark 'sample' too") == 1
    played = seal("run", "--limit", "1", "--no-baselines", paths=(other,), cwd=tmp_path)
    assert played.returncode == 0, played.stderr


@pytest.mark.slow
def test_its_run_is_read_where_it_is_broken_or_offered_twice(
    installed: Path, played: Path, tmp_path: Path
) -> None:
    other = distribution(tmp_path / "a", "second_office", "tickets", "import no_such_module\n")
    run = str(shutil.copytree(played / "lexical", tmp_path / "lexical"))
    twice, broken = (installed, other), (other,)
    for paths, words in ((twice, ("explain", run)), (broken, ("paper", "tickets", run))):
        told = seal(*words, paths=paths, cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        assert told.stderr.count("is read by what its folder says") == 1
    refused = seal("run", "tickets", paths=twice, cwd=tmp_path)
    assert (refused.returncode, "second_office" in refused.stderr) == (2, True)


def test_a_benchmark_of_another_name_than_its_entry_point_is_refused(tmp_path: Path) -> None:
    code = "import seal\nBENCHMARK = seal.Benchmark('elsewise')\n"
    odd = distribution(tmp_path / "a", "odd_pack", "othername", code)
    failed = seal("run", "othername", paths=(odd,), cwd=tmp_path)
    assert failed.returncode == 2
    assert "the benchmark 'othername' of odd_pack is named 'elsewise'; give" in failed.stderr
