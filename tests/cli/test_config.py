"""Flags win over the environment, which wins over seal.toml."""

import os
import re
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

from seal.cli.config import Config, variable
from seal.cli.verbs import load
from seal.core import DataError, UsageError
from seal.runs.settings import RunSettings


def test_the_file_gives_a_flag_its_value(seal, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text("limit = -4\n")
    assert "--limit -4: expected a whole number of at least 1" in seal("run").stderr


def test_the_environment_wins_over_the_file(seal, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text("limit = -4\n")
    assert "--limit -5: expected" in seal("run", SEAL_LIMIT="-5").stderr


def test_a_flag_wins_over_the_environment(seal) -> None:
    assert "--limit -6: expected" in seal("run", "--limit", "-6", SEAL_LIMIT="-5").stderr


def test_a_bad_value_says_where_it_stands(seal, tmp_path: Path) -> None:
    assert "SEAL_TOP_K" in seal("run", SEAL_TOP_K="many").stderr
    (tmp_path / "seal.toml").write_text('top-k = "many"\n')
    failed = seal("run")
    assert failed.returncode == 2
    assert "seal.toml" in failed.stderr


def test_a_value_out_of_its_range_says_where_it_stands(seal, tmp_path: Path) -> None:
    told = "Unless it is on the command line, it "
    for value in ("0", "-4"):
        said = seal("run", SEAL_TOP_K=value).stderr
        assert f"--top-k {value}: expected a whole number of at least 1. {told}is the value" in said
    (tmp_path / "seal.toml").write_text("top-k = 0\n")
    assert f"of at least 1. {told}stands in seal.toml." in seal("run").stderr
    (tmp_path / "seal.toml").unlink()
    assert seal("run", "--top-k", "0").stderr.endswith("expected a whole number of at least 1\n")


@pytest.mark.parametrize(
    ("flag", "value", "told"),
    [
        ("model", "gpt", "'gpt' is from"),
        ("model", "openai/x,base_url=ftp://x", "'openai/x' is from"),
        ("team", "x", "'x' is from"),
        ("retriever", "nope", "'nope' is from"),
        ("judge", "x", "it "),
    ],
)
def test_a_name_that_nobody_has_says_where_it_stands(
    seal, tmp_path: Path, flag: str, value: str, told: str
) -> None:
    told = f"Unless it is on the command line, {told}"
    assert told not in seal("run", f"--{flag}", value).stderr
    assert told in seal("run", **{f"SEAL_{flag.upper()}": value}).stderr
    (tmp_path / "seal.toml").write_text(f'{flag} = "{value}"\n')
    assert re.search(re.escape(told) + ".*seal.toml", seal("run").stderr)


@pytest.mark.parametrize("line", ["trials = true", "temperature = false", "model = true"])
def test_a_truth_in_the_place_of_a_value_is_refused(seal, tmp_path: Path, line: str) -> None:
    (tmp_path / "seal.toml").write_text(line)
    failed = seal("run")
    assert failed.returncode == 2 and f"seal.toml: {line}; expected a value" in failed.stderr


def test_a_word_in_the_place_of_a_truth_is_refused_with_what_is_expected(seal) -> None:
    failed = seal("run", SEAL_RESUME="maybe")
    assert "'--resume': expected true or false. Unless it is" in failed.stderr
    assert failed.returncode == 2


@pytest.mark.parametrize("flag", ["resume", "baselines"])
def test_an_empty_text_in_the_place_of_a_truth_is_refused(seal, tmp_path: Path, flag: str) -> None:
    (tmp_path / "seal.toml").write_text(f'{flag} = ""\n')
    failed = seal("run", "--top-k", "0")
    assert failed.returncode == 2
    assert f'seal.toml: {flag} = ""; expected true or false' in failed.stderr


def test_an_empty_variable_is_no_setting(seal) -> None:
    assert "--limit -4" in seal("run", "--limit", "-4", SEAL_TOP_K="").stderr


def test_an_unknown_key_names_the_closest_flag(seal, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text("topk = 3\n")
    failed = seal("run")
    assert failed.returncode == 2
    assert "seal.toml: no flag --topk" in failed.stderr
    assert "Did you mean 'top-k'?" in failed.stderr


@pytest.mark.parametrize("table", ["run", "seed"])
def test_a_table_that_no_flag_takes_is_told(seal, tmp_path: Path, table: str) -> None:
    (tmp_path / "seal.toml").write_text(f"[{table}]\ntop-k = 3\n")
    failed = seal("run")
    assert failed.returncode == 2
    assert f"seal.toml: there is no table [{table}]" in failed.stderr
    assert "move 'top-k' there" in failed.stderr


@pytest.mark.parametrize(
    "text",
    [
        'openai-api-key = "abc"',
        'OPENAI_API_KEY = "abc"',
        '[model-option]\napi_key = "abc"',
        'base-url = "sk-0123456789abcdefghij"',
        '[model-option.extra_headers]\nAuthorization = "abc"',
    ],
)
def test_a_key_in_the_file_is_refused(seal, tmp_path: Path, text: str) -> None:
    (tmp_path / "seal.toml").write_text(text)
    failed = seal("run")
    assert failed.returncode == 2
    assert "environment alone" in failed.stderr
    assert "sk-0123" not in failed.stderr


@pytest.mark.parametrize("content", [b"limit = ", b"\xff\xfe", b"[a]\n[a]\n"])
def test_a_file_that_is_no_toml_is_named(seal, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "seal.toml").write_bytes(content)
    failed = seal("run")
    assert failed.returncode == 2
    assert "seal.toml is no TOML" in failed.stderr


def test_tables_lists_and_words_fill_repeated_flags() -> None:
    config = Config(
        {"role-model": {"planner": "lexical", "judge": "oracle"}, "select": ["group=G1"]},
        {"SEAL_MODEL_OPTION": "a=1 b=2"},
    )
    found = config.defaults(get_command(load("run")))
    assert found == {
        "role_models": ["planner=lexical", "judge=oracle"],
        "select": ["group=G1"],
        "model_options": ["a=1", "b=2"],
    }


def test_a_number_cannot_fill_a_repeated_flag() -> None:
    with pytest.raises(DataError, match="select = 3; expected a list, a table or a text"):
        Config({"select": 3}, {}).defaults(get_command(load("run")))


def test_a_flag_of_another_verb_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seal.toml").write_text("top-k = 3\n")
    assert Config.read().defaults(get_command(load("report"))) == {}


def test_a_variable_is_named_after_its_flag() -> None:
    assert variable("max-total-tokens") == "SEAL_MAX_TOTAL_TOKENS"


def test_a_refusal_does_not_repeat_the_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seal.toml").write_text('api_key = "hunter2hunter2"\n')
    with pytest.raises(UsageError) as caught:
        Config.read()
    assert "hunter2" not in str(caught.value)


def test_a_nested_key_on_the_command_line_is_refused_by_its_flag(seal) -> None:
    failed = seal("run", "-M", 'extra_headers={"Authorization": "hunter2hunter2"}')
    assert failed.returncode == 2
    assert "seal: -M: extra_headers.Authorization looks like a key" in failed.stderr
    assert "hunter2" not in failed.stderr


def test_every_setting_of_a_run_has_a_flag_with_its_default() -> None:
    parameters = {p.name: p for p in get_command(load("run")).params}
    for setting in fields(RunSettings):
        if setting.name == "origins":  # says which flag was given, and is none
            continue
        parameter = parameters[setting.name]
        default = getattr(RunSettings(), setting.name)
        if setting.name in ("cutoffs", "top_k"):
            default = str(default) if isinstance(default, int) else ",".join(map(str, default))
        assert (parameter.default or None) == (default or None), setting.name


def test_an_unknown_variable_is_warned_of_with_the_closest(seal) -> None:
    told = seal("benchmarks", SEAL_TOPK="value-of-it", SEAL_DATA="here", SEAL_TOP_K="3", SEAL_X="")
    assert told.returncode == 0
    assert told.stderr == (
        "seal: the environment variable SEAL_TOPK is ignored: no flag has this name; "
        "did you mean SEAL_TOP_K?\n"
    )


@pytest.mark.parametrize(
    ("key", "now"),
    [
        ("agent-url", "--agent bridge:URL"),
        ("config", "--server FILE"),
        ("baselines-alike", "is gone"),
        ("force-simulator", "is gone"),
        ("perturb", "is gone: `seal augment`"),
        ("history-policy", "is gone"),
        ("on", "--processes ray"),
        ("planner", "--role planner=AGENT"),
        ("speaker-selection", "-T selection=auto"),
        ("style", "--role execution_manager=react"),
        ("tool-messages", "--format native-text"),
    ],
)
def test_a_former_setting_is_told_by_what_says_it_now(
    key: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = Config({}, {variable(key): "x"}).warnings()
    assert [now in warning for warning in told] == [True]
    (tmp_path / "seal.toml").write_text(f'{key} = "x"\n')
    with pytest.raises(DataError) as caught:
        Config.read()
    assert f"seal.toml: {key}: the flag --{key} " in str(caught.value)
    assert now in str(caught.value)


def test_a_database_of_answers_is_named_by_its_variable_alone(seal, tmp_path: Path) -> None:
    assert list(Config({}, {"SEAL_CACHE_URL": "sqlite:///a"}).warnings()) == []
    (tmp_path / "seal.toml").write_text('cache-url = "postgresql://me@host/a"\n')
    failed = seal("benchmarks")
    assert failed.returncode == 2
    assert "cache-url: the flag --cache-url is now the variable SEAL_CACHE_URL" in failed.stderr


@pytest.mark.parametrize("text", [f"x = {'[' * 5000}{']' * 5000}", f"seed = {'9' * 5000}"])
def test_a_file_that_no_reader_takes_is_refused_in_words(seal, tmp_path: Path, text: str) -> None:
    (tmp_path / "seal.toml").write_text(text)
    failed = seal("run")
    assert failed.returncode == 2
    assert "seal.toml is no TOML" in failed.stderr
    assert "sys." not in failed.stderr


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(seal, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "seal.toml")
    failed = seal("run")
    assert failed.returncode == 2
    assert "seal.toml cannot be read: it is a pipe, and no file" in failed.stderr


def test_the_file_may_begin_with_a_byte_order_mark(seal, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text("limit = -4\n", encoding="utf-8-sig")
    assert "--limit -4: expected" in seal("run").stderr


@pytest.mark.parametrize("flag", ["--model", "--model-option", "--world-option"])
def test_a_value_nested_too_deep_is_a_text(seal, flag: str) -> None:
    deep = "[" * 5000
    given = f"openai/m,extra_body={deep}" if flag == "--model" else f"a={deep}"
    failed = seal("run", "sample", flag, given)
    assert failed.returncode == 2
    assert "unexpected" not in failed.stderr
