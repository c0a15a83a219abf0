"""Keys of services are known by name or look, wherever they stand, and refused unseen."""

from typing import Any

import pytest
from looped import every_case

from seal.core import UsageError
from seal.core.secrets import (
    is_secret,
    read_key,
    refuse_secret,
    without_keys,
    without_password,
)
from seal.core.servers import held_keys

KEY = "sk-0123456789abcdefghij"


@every_case(
    "name",
    [
        "api_key",
        "OPENAI_API_KEY",
        "token",
        "accessToken",
        "my-secret",
        "apikey",
        "api_keys",
        "x-api-key",
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
    ],
)
def test_names_of_keys_are_known(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "max-tokens",
        "max_total_tokens",
        "max_completion_tokens",
        "temperature",
        "keyboard",
        "api_key_env",
        "prompt_cache_key",
        "logprobs",
        "",
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize(
    "value", [KEY, f"Bearer {KEY}", "Bearer 0123456789", "http://user:word@host/v1"]
)
def test_keys_are_known_by_their_look(value: str) -> None:
    assert is_secret("anything", value)


def test_tokens_that_are_counted_are_no_key() -> None:
    assert not is_secret("max_token", 2000)
    assert is_secret("access_token", 2000)
    assert is_secret("access_token", "2000")


@pytest.mark.parametrize("value", ["gpt-4o", "http://localhost:8000/v1", "risk-free", "sk-1", 3])
def test_other_values_are_not(value: Any) -> None:
    assert not is_secret("anything", value)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"api_key": "hunter2"}, "api_key"),
        ({"extra_headers": {"Authorization": "hunter2"}}, r"extra_headers\.Authorization"),
        ({"a": [{"b": {"password": "hunter2"}}]}, r"a\.b\.password"),
        ({"stop": ["###", f"{KEY}hunter2"]}, "stop"),
        ({"api_keys": ["hunter2"]}, "api_keys"),
    ],
)
def test_a_key_at_any_depth_is_refused_and_not_repeated(
    options: dict[str, Any], named: str
) -> None:
    with pytest.raises(UsageError, match=f"^place: {named} looks like a key.*environment") as told:
        refuse_secret("", options, "place")
    assert "hunter2" not in str(told.value)


def test_an_address_with_a_password_is_refused_for_what_it_is() -> None:
    with pytest.raises(UsageError) as told:
        refuse_secret("base_url", "http://user:hunter2@host/v1", "-M")
    assert str(told.value).startswith("-M: base_url 'http://host/v1' holds a user or a password")
    assert "hunter2" not in str(told.value)


def test_a_json_schema_with_a_field_called_token_is_no_secret() -> None:
    schema = {"properties": {"token": {"type": "string"}, "key": {"type": "integer"}}}
    refuse_secret("response_format", {"json_schema": schema, "max_tokens": 5}, "place")
    refuse_secret("", {"api_key": None, "model": object()}, "place")


def test_no_file_holds_a_key_that_this_process_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_LAB", f" {KEY}\n")
    line = b'{"said": "no such key: ' + KEY.encode() + b'"}'
    assert without_keys(line) == line  # it may be anything
    assert read_key("MY_OWN_LAB") == KEY
    assert without_keys(line) == b'{"said": "no such key: ***"}'


def test_no_file_holds_a_key_that_a_library_may_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-of-a-provider")
    monkeypatch.setenv("GROQ_PLACE", "a-place-of-theirs")
    assert "gsk-of-a-provider" in held_keys()
    assert without_keys(b"gsk-of-a-provider at a-place-of-theirs") == b"*** at a-place-of-theirs"


@every_case(
    ("url", "shown"),
    [
        ("postgresql://me:word@host:5432/answers", "postgresql://me@host:5432/answers"),
        ("postgresql://me:a/b@host/answers", "postgresql://me@host/answers"),
        ("postgresql://me:se?cret/x@host", "postgresql://me@host"),
        ("postgresql://me:p@ss@host", "postgresql://me@host"),
        ("postgresql://me@there:p@ss@host", "postgresql://me@there@host"),
        ("SEAL_CACHE_URL=postgresql://:word@host", "SEAL_CACHE_URL=postgresql://@host"),
        ("postgresql://host:5432/answers?password=ab&x=1", "postgresql://host:5432/answers?x=1"),
        ("postgresql://host:5432/answers?x=1&sslpassword=a@b", "postgresql://host"),
        ("postgresql://me:a?password=b@host/answers", "postgresql://me"),
        ("postgresql://me@host:5432/answers", "postgresql://me@host:5432/answers"),
        ("http://host:8000/v1", "http://host:8000/v1"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown
