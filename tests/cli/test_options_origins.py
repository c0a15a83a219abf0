"""A plan says where each setting is from."""

from pathlib import Path


def test_a_plan_tells_the_flag_the_variable_and_the_file(called, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text('top-k = 5\ntrials = 3\n[role-model]\njudge = "lexical"\n')
    words = ("run", "sample", "--limit", "1", "--no-baselines", "--role", "planner=decompose")
    planned = called(*words, "--dry-run", SEAL_TRIALS="2")
    assert planned.returncode == 0, planned.stderr
    lines = planned.stdout.splitlines()
    assert 'from the command line: baselines=false, limit=1, roles={"planner":"decompose"}' in lines
    (variables,) = (line for line in lines if line.startswith("from the environment: "))
    assert variables.endswith('/cache", trials=2')
    assert 'from seal.toml: role_models={"judge":"lexical"}, top_k=5' in lines
    assert (
        'by default: format="native", history="own", judge="llm", '
        'retriever="given, else tfidf", team="full", votes={"pass_paper":1}' in lines
    )
    assert "every other setting has its default" in lines


def test_a_benchmarks_own_way_is_told(called) -> None:
    planned = called("run", "dialogtool-sample", "--limit", "1", "--no-baselines", "--dry-run")
    assert (
        'from the benchmark, where nothing else says otherwise: format="bracket", '
        'history="gold", team="tool_life"' in planned.stdout.splitlines()
    )
