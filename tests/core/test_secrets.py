"""Keys of services are known by name or look, wherever they stand, and refused unseen."""

import base64
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import markupsafe
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core import UsageError
from seal.core.secrets import (
    IN_PLACE,
    check_address,
    is_secret,
    public_url,
    read_key,
    refuse_secret,
    route_of,
    secrets_of,
    without_keys,
    without_password,
)
from seal.core.servers import held_keys
from seal.core.values import json_bytes, json_text

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
    assert without_keys(line) == b'{"said": "no such key: ***key***"}'


def test_no_file_holds_a_key_that_a_library_may_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-of-a-provider-7")
    monkeypatch.setenv("GROQ_PLACE", "a-place-of-theirs-7")
    assert "gsk-of-a-provider-7" in held_keys()
    told = without_keys(b"gsk-of-a-provider-7 at a-place-of-theirs-7")
    assert told == b"***key*** at a-place-of-theirs-7"


@pytest.mark.parametrize(
    "key",
    [
        "anything",
        "whatever",
        "localhost",
        "password",
        "lm-studio",
        "sk-no-key-required",
        "not needed",
        "12345678",
        "kein-Schlüssel",
    ],
)
def test_a_placeholder_stays_in_what_a_model_said(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    line = f'{{"said": "Is there {key} else?"}}'.encode()
    assert without_keys(line) == line


def _of_user(user: str) -> Callable[[str], str]:
    return lambda key: base64.b64encode(f"{user}:{key}".encode()).decode()


FORMS: list[Callable[[str], str]] = [
    lambda key: key,
    lambda key: quote(key, safe=""),
    json.dumps,
    html.escape,
    lambda key: html.escape(key, quote=False),
    lambda key: str(markupsafe.escape(key)),
    lambda key: base64.b64encode(key.encode()).decode(),
    lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    *map(_of_user, ("", "a", "me", "you", "they")),
]


@given(
    key=st.text("abcXYZ-_+/=~&\"'\\ü0189", min_size=8, max_size=40).map(lambda key: f"k3y{key}"),
    form=st.sampled_from(FORMS),
    around=st.tuples(st.text(max_size=5), st.text(max_size=5)),
)
def test_a_key_in_any_form_is_in_no_file(
    key: str, form: Callable[[str], str], around: tuple[str, str]
) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", key)
        told = without_keys(json_bytes({"said": f"{around[0]} {form(key)} {around[1]}"})).decode()
    assert IN_PLACE in told
    assert json_text(key)[1:-1] not in told
    # Of base64 only letters at an edge stay, which may stand for parts of the neighbours.
    assert len(json.loads(told)["said"]) <= len(f"{around[0]} {IN_PLACE} {around[1]}") + 12


def test_passwords_and_keys_in_addresses_are_in_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:pass%2Fword77@host/v1?api_key=QUERYkey99")
    monkeypatch.setenv("https_proxy", "proxy-user:proxyWord5@proxy:3128")
    login = base64.b64encode(b"me:pass/word77").decode()
    line = f"pass%2Fword77 pass/word77 QUERYkey99 proxyWord5 host v1 {login}".encode()
    told = without_keys(line).decode()
    assert told.startswith(" ".join([IN_PLACE] * 4 + ["host v1 "]))
    assert login[6:-4] not in told


@every_case(
    "address",
    [
        "https://gateway.example/v1/9f86d081884c7d659a2feaa0c55ad015/mine/openai",
        "http://h/v1?country_code=DE",
    ],
)
def test_the_number_of_an_account_and_a_plain_code_are_no_keys(address: str) -> None:
    assert check_address(address, "base_url") == address
    assert not secrets_of(address)


@every_case("key", [KEY, "AIzaSyA-0123456789abcdef", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"])
def test_a_key_in_the_path_of_an_address_is_refused_in_settings_and_starred_elsewhere(
    key: str,
) -> None:
    url = f"https://gate.example.org/{key}/v1"
    with pytest.raises(UsageError, match="--base-url: a part of the path may be a key") as caught:
        check_address(url, "--base-url")
    assert key not in str(caught.value)
    assert public_url(url) == "https://gate.example.org/***/v1"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_BASE_URL", url)
        assert without_keys(f"{key} at v1".encode()) == b"***key*** at v1"
    assert route_of(url) != route_of(url.replace(key, f"{key}0")) != ""


@every_case(
    "path",
    [
        "",
        "/v1",
        "/compatible-mode/v1",
        "/openai/deployments/gpt-4o-mini-2024-07-18/v1",
        "/v1beta1/projects/my-project-123456/locations/us-central1/endpoints/openapi",
        "/largelanguagemodelgateway/1234567890123456789012",
    ],
)
def test_a_path_without_a_key_stays_as_it_is(path: str) -> None:
    url = f"http://r2d2c3po4bb8r2d2c3po4bb8.example.org{path}"
    assert check_address(url, "--base-url") == public_url(url) == url
    assert route_of(url) == ""


@pytest.mark.parametrize("login", ["t0ken-of-99", "t0ken-of-99:", "t0ken-of-99:x-oauth-basic"])
@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "HTTPS_PROXY"])
def test_a_user_without_a_password_is_a_key(
    variable: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://{login}@host/v1")
    basic = base64.b64encode(login.encode()).decode()
    told = without_keys(f"t0ken-of-99 at host, Basic {basic}".encode()).decode()
    assert told.startswith(f"{IN_PLACE} at host, Basic {IN_PLACE}")


@pytest.mark.parametrize(
    "url",
    [
        "http://user@host/v1",
        "http://anyone-at-all@host/v1",
        "http://researcher7:pa55word@host/v1",
        "postgresql://researcher7@host/answers",
    ],
)
def test_any_other_user_is_a_name(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    line = b"user, anyone-at-all, researcher7"
    assert without_keys(line) == line


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


@pytest.mark.parametrize(
    "name",
    [
        *("sig", "Signature", "code", "sas", "pwd", "access_code", "accessCode", "ACCESS-CODE"),
        *("X-Amz-Signature", "X-Goog-Credential", "basic_auth", "jwt", "accesstoken", "authkey"),
        *("key", "api_key", "token", "client_secret"),
    ],
)
def test_a_key_in_the_query_of_an_address_is_refused_in_settings_and_starred_elsewhere(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"https://gate.example.org/v1?api-version=2024-10-21&{name}=qk-77aa88bb99cc"
    with pytest.raises(UsageError, match=f"--base-url: {name} in the query") as caught:
        check_address(url, "--base-url")
    assert "qk-77" not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    line = json_bytes({"said": "qk-77aa88bb99cc of 2024-10-21"})
    assert without_keys(line) == json_bytes({"said": "***key*** of 2024-10-21"})


def test_what_is_no_key_stays_in_an_address() -> None:
    url = "https://gate.example.org/v1?api-version=2024-10-21&deployment=m&max_tokens=9&encode=1"
    assert check_address(url, "--base-url") == url
