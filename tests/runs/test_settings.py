"""What no run can be told."""

import pickle
from pathlib import Path

import pytest

import seal
from seal.core import UsageError
from seal.core.store import url_elsewhere
from seal.runs.cluster import settings_there
from seal.runs.settings import RunSettings

KEY = {"api_key": "hunter2"}
HEADER = {"extra_headers": {"Authorization": "Bearer hunter2"}}


@pytest.mark.parametrize("field", ["model_options", "retriever_options"])
@pytest.mark.parametrize("options", [KEY, HEADER])
def test_a_key_among_options_is_refused_unseen(field: str, options: dict) -> None:
    with pytest.raises(UsageError, match=f"^{field}: .*environment alone") as told:
        RunSettings(**{field: options})
    assert "hunter2" not in str(told.value)


def test_harmless_options_are_taken() -> None:
    options = {"max_tokens": 5, "extra_body": {"prompt_cache_key": "a"}, "api_key_env": "MY_KEY"}
    assert RunSettings(model_options=options).model_options == options


def test_a_run_with_a_key_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="model_options: api_key"):
        seal.run("sample", model_options=KEY, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_retrieval_refuses_a_key_too(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="options: api_key"):
        seal.retrieve(["sample"], ["tfidf"], options=KEY, out=tmp_path / "found")
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("max_seconds", float("nan"), "--max-seconds nan: expected a finite number above 0"),
        ("temperature", float("nan"), "--temperature nan: expected a finite number of at least 0"),
        ("temperature", float("inf"), "--temperature inf: expected a finite number of at least 0"),
        ("temperature", -1.0, "--temperature -1.0: expected a number of at least 0"),
        ("seed", 2**63, "expected a whole number of at most 18 digits"),
    ],
)
def test_numbers_that_no_run_can_have_are_refused(setting: str, value: float, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        RunSettings(**{setting: value})


def test_the_password_of_a_database_is_not_sent_to_other_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SEAL_CACHE_URL", raising=False)
    assert url_elsewhere() == ""
    monkeypatch.setenv("SEAL_CACHE_URL", "postgresql://me:hidden-word@host/answers")
    assert url_elsewhere() == "postgresql://me@host/answers"
    assert b"hidden-word" not in pickle.dumps(settings_there(RunSettings()))
