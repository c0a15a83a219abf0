"""`seal new`: from files to a pool that runs."""

import json


def test_the_template_is_made_into_a_benchmark_that_runs(seal, tmp_path) -> None:
    assert seal("new", "shop", "--template", "--out", "mine").returncode == 0
    again = seal("new", "shop", "--template", "--out", "mine")
    assert (again.returncode, "mine holds something" in again.stderr) == (2, True)
    files = ("--tools", "mine/shop_tools.py", "--tasks", "mine/questions.csv")

    made = seal("new", "shop", *files, "--out", "pool", "--json")

    told = json.loads(made.stdout)
    assert (told["tools"], told["tasks"], told["left_out"]) == (3, 10, 0)
    values = {one["metrics"].partition(",")[0]: one["tasks"] for one in told["metrics"]}
    (tmp_path / "shop_tools.py").write_bytes((tmp_path / "mine" / "shop_tools.py").read_bytes())
    words = ("--model", "oracle", "--no-baselines", "--out", "run", "--json")
    played = seal("run", "pool", *words, "--allow-code", "shop_tools")
    assert played.returncode == 0, played.stderr
    metrics = json.loads(played.stdout)["metrics"]
    for name in ("pass_rate", "call_f1", "param_acc_gold", "abstention"):
        assert metrics[name]["n"] == values[name], name
    assert metrics["pass_rate"]["mean"] == 1.0


def test_a_name_that_none_can_have_is_refused_and_nothing_is_written(seal, tmp_path) -> None:
    done = seal("new", "my/shop", "--template", "--out", "mine")
    assert (done.returncode, (tmp_path / "mine").exists()) == (2, False)
    assert "a benchmark's name has letters, digits and the signs . _ - alone" in done.stderr


def test_a_pool_that_holds_a_file_of_its_user_is_not_replaced(seal, tmp_path) -> None:
    (tmp_path / "tools.csv").write_text("name\nship\n")
    (tmp_path / "tasks.csv").write_text("query,calls\nSend it.,ship\n")
    words = ("new", "shop", "--tools", "tools.csv", "--tasks", "tasks.csv", "--out", "pool")
    assert [seal(*words).returncode for _ in range(2)] == [0, 0]
    (tmp_path / "pool" / "notes.txt").write_text("mine")

    done = seal(*words)
    assert done.returncode == 2
    assert "pool holds 'notes.txt', which is not of a pool and would be lost" in done.stderr
    assert (tmp_path / "pool" / "notes.txt").read_text() == "mine"


def test_files_are_asked_for(seal) -> None:
    done = seal("new", "shop", "--out", "pool")

    assert done.returncode == 2
    assert "give --tools FILE and --tasks FILE" in done.stderr


def test_all_rows_that_are_left_out_are_recorded_and_five_are_shown(seal, tmp_path) -> None:
    (tmp_path / "tools.csv").write_text("name\nship\n")
    rows = ["query,calls", *["Send it.,shipp"] * 8, "Send it.,ship"]
    (tmp_path / "tasks.csv").write_text("\n".join(rows))
    files = ("--tools", "tools.csv", "--tasks", "tasks.csv", "--out", "pool")

    shown = seal("new", "shop", *files).stdout
    told = json.loads(seal("new", "shop", *files, "--json").stdout)

    assert (shown.count("left out: tasks.csv"), "and 3 more: see pool/import.json" in shown) == (
        5,
        True,
    )
    assert (told["left_out"], len(told["faults"])) == (8, 8)
    assert told["faults"][7].startswith("tasks.csv, line 9: names the tool 'shipp'")
    assert (
        json.loads((tmp_path / "pool" / "import.json").read_text())["malformed"] == told["faults"]
    )


def test_an_agent_among_the_tools_is_told_with_the_repair(called, tmp_path) -> None:
    (tmp_path / "shop.py").write_text("def agent(request, tools):\n    return 'done'\n")
    (tmp_path / "tasks.csv").write_text("query\nSend it.\n")

    done = called("new", "shop", "--tools", "shop.py", "--tasks", "tasks.csv", "--out", "pool")

    assert done.returncode == 2
    assert "argument 'request' has no type" in done.stderr
    assert "If it is no tool, leave it out of the tools; in a file of tools" in done.stderr
