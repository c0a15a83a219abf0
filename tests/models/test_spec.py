"""Models named with options of their own, in a text and in Python."""

import pickle
import string
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

import seal
from seal.api import installation
from seal.core import MissingExtraError, SealError
from seal.models.spec import (
    Flagged,
    ModelSettings,
    account_of,
    bare_name,
    build_model,
    is_offline,
    model_identity,
    shown_at,
)
from seal.runs.settings import RunSettings

LOCAL = "http://localhost:8000/v1"
KEY = "sk-" + "a" * 24


def test_a_model_is_its_text() -> None:
    model = seal.Model("openai/x", base_url=LOCAL, max_tokens=1024, key_env="LOCAL_KEY")
    text = f"openai/x,base_url={LOCAL},key_env=LOCAL_KEY,max_tokens=1024"
    assert model == text
    assert (str(model), repr(model), hash(model)) == (text, f"Model({text!r})", hash(text))
    assert (model.name, model.options["max_tokens"]) == ("openai/x", 1024)
    assert seal.Model(f"openai/x,max_tokens=1024, key_env=LOCAL_KEY,base_url={LOCAL}") == model
    assert pickle.loads(pickle.dumps(model)) == model
    with pytest.raises(AttributeError):
        model.name = "openai/y"  # type: ignore[misc]


JSON_VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(string.printable),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text("abcdef_", min_size=1), JSON_VALUES, max_size=4))
def test_any_option_is_read_back_from_the_text(options: dict[str, Any]) -> None:
    model = seal.Model("my_lab.models:Mine", **options)
    assert seal.Model(str(model)).options == options
    assert str(seal.Model(str(model))) == str(model)


def test_the_text_holds_settings_fields_and_those_of_one_server() -> None:
    model = seal.Model("openai/x", timeout_s=3, stop=["a", "b"], extra_body={"min_p": 0.1})
    settings = Flagged.of(model).settings()
    assert settings.timeout_s == 3
    assert settings.fields == {"stop": ["a", "b"], "min_p": 0.1}


def test_own_options_go_before_those_of_the_flags() -> None:
    flags = Flagged("openai/x,max_tokens=5,base_url=http://a/v1", LOCAL, {"max_tokens": 9, "n": 1})
    settings = flags.settings()
    assert (settings.base_url, settings.options) == ("http://a/v1", {"max_tokens": 5, "n": 1})


def test_flags_and_options_that_say_the_same_are_one_identity() -> None:
    by_flags = ModelSettings(base_url=LOCAL).told({"max_tokens": 5})
    model = f"openai/x,max_tokens=5,base_url={LOCAL}"
    assert model_identity(model, None, build_model(model)) == model_identity(
        "openai/x", by_flags, build_model("openai/x", by_flags)
    )
    assert model_identity("lexical,slips=0.5") == {"model": "lexical", "options": {"slips": 0.5}}


def test_a_path_may_hold_a_comma() -> None:
    assert bare_name("replay:runs/a,b") == "replay:runs/a,b"
    assert is_offline("scripted:a,b=c.jsonl")


@every_case(
    ("text", "message"),
    [
        ("openai/x,max_tokns=5", r"no option of model openai/x 'max_tokns'.*mean 'max_tokens'\?"),
        ("openai/x,base_ulr=http://a/v1", r"Did you mean 'base_url'\?"),
        ("gemini/x,max_tokens=5", r"Did you mean 'max_output_tokens'\?"),
        ("lexical,slip=0.5", r"no option of model lexical 'slip'.*Did you mean 'slips'\?"),
        ("oracle,slips=0.5", "no option of model oracle 'slips'; known: none"),
        ("openai/x,max_tokens=5,max_tokens=6", "max_tokens stands twice; keep one"),
        ("openai/x,max_tokens", "'max_tokens' is no KEY=VALUE; write openai/qwen3"),
        (",max_tokens=5", "has no name; write NAME"),
        ("openai/x,base_url=localhost:8000", "base_url '.*': expected an address such as http"),
        ("openai/x,base_url=8000", "base_url=8000: expected an address in a text"),
        ("openai/x,base_url=http://me:secret@a/v1", "holds a user or a password: .*key_env="),
        ("openai/x,base_url=http://secret@a/v1", "holds a user or a password: .*key_env="),
        ("openai/x,http://me:secret@a/v1", "^model openai/x: 'http://a/v1' holds a user or a pass"),
        ("http://me:secret@a/v1?key=secret", "^model http: 'http://a/v1' holds a user or a passw"),
        (
            "openai/x,base_url=http://a/v1?api_key=secret",
            "base_url: api_key in the query may be",
        ),
        ("openai/x,api_key=secret", "model openai/x: api_key looks like a key of a service"),
        (f"openai/x,user={KEY}", "user looks like a key"),
        (f"openai/x,key_env={KEY}", "key_env looks like a key"),
        ("openai/x,key_env=secret", "key_env takes the name of an environment variable"),
        ("openai/x,max_tokens=many", "max_tokens='many': expected a whole number"),
        ("openai/x,max_tokens=1.5", "max_tokens=1.5: expected a whole number"),
        ("openai/x,max_tokens=true", "max_tokens=True: expected a whole number"),
        ("openai/x,max_tokens=-5", "max_tokens=-5: expected a whole number of at least 1"),
        ("gemini/x,max_output_tokens=0", "max_output_tokens=0: expected a whole number of at"),
        ("anthropic/x,max_tokens=0", "max_tokens=0: expected a whole number of at least 1"),
        ("local/smollm2,n_ctx=0", "n_ctx=0: expected a whole number of at least 1"),
        ("openai/x@lab@hosted", "openai/x@lab@hosted: it has two endpoints, lab and hosted; keep"),
        ("@lab", "model @lab: no model stands before the @; write openai/NAME@lab"),
        ("openai/x,timeout_s=soon", "timeout_s='soon': expected a number"),
        ("openai/x,extra_body=1", "extra_body=1: expected an object"),
        ("lexical,slips=often", "slips='often': expected a number"),
    ],
)
def test_a_text_that_is_no_model_is_refused_in_a_line(text: str, message: str) -> None:
    for action in (seal.Model, build_model, lambda model: RunSettings(model=model)):
        with pytest.raises(SealError, match=message) as caught:
            action(text)
        said = str(caught.value)
        assert "\n" not in said
        assert "secret" not in said.replace("secret,", "")
        assert KEY not in said


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("max_wait_s=-1", "max_wait_s -1.0: it must be at least 0 seconds"),
        ("first_wait_s=-1", "first_wait_s -1.0: it must be at least 0 seconds"),
        ("key_header=My:Key", "key_header='My:Key': expected the name of a header"),
        ("key_header=", "key_header='': expected the name of a header, such as api-key"),
    ],
)
def test_a_setting_that_no_server_can_have_is_refused_before_it_is_asked(
    option: str, message: str
) -> None:
    with pytest.raises(SealError, match=message):
        build_model(f"openai/x,base_url=http://a/v1,{option}")


def test_a_header_of_a_key_is_refused_where_the_provider_takes_none() -> None:
    with pytest.raises(SealError, match="no option of model litellm/x 'key_header'"):
        seal.Model("litellm/x", key_header="api-key")


def test_a_refusal_names_a_model_by_its_plain_text() -> None:
    with pytest.raises(SealError, match=r"^'oracle' plays tasks"):
        installation.probe(seal.Model("oracle"))
    with pytest.raises(SealError, match=r"^oracle plays tasks and cannot be the judge") as told:
        seal.run("sample", role_models={"judge": seal.Model("oracle")}, limit=1)
    assert "Model(" not in str(told.value)


def test_an_option_that_stands_twice_in_python_is_refused() -> None:
    with pytest.raises(SealError, match="model 'openai/x': max_tokens stands twice"):
        seal.Model("openai/x,max_tokens=5", max_tokens=6)
    with pytest.raises(SealError, match="expected a text or a list"):
        seal.Model("openai/x", stop={"a"})


def test_a_key_variable_that_is_not_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_KEY", raising=False)
    text = f"openai/x,base_url={LOCAL},key_env=LOCAL_KEY"
    with pytest.raises(SealError, match="variable LOCAL_KEY of key_env is not set; export LOCAL"):
        build_model(text)
    monkeypatch.setenv("LOCAL_KEY", "k")
    build_model(text)


def test_a_model_that_is_built_takes_no_options() -> None:
    with pytest.raises(SealError, match="it is built already and takes no options"):
        build_model(f"{__name__}:Silent,depth=3")


class Silent:
    """A model that is built without arguments."""

    def complete(self, request: Any) -> Any:
        raise AssertionError


def test_what_is_asked_elsewhere_has_its_address_in_its_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert account_of("openai/x", None) == "openai/x"
    assert account_of("openai/x", "https://api.openai.com/v1") == "openai/x"
    assert shown_at("openai/x", None) == "openai/x at api.openai.com"
    for url in (LOCAL, "http://api.openai.com/v1", "https://api.openai.com.evil.test/v1"):
        assert account_of("openai/x", url) == f"openai/x,base_url={url}"
        assert shown_at("openai/x", url) == f"openai/x at {url}"
    assert account_of("openai/x", "http://me:secret@a/v1?k=v") == "openai/x,base_url=http://a/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    assert account_of("openai/x", None) == f"openai/x,base_url={LOCAL}"
    assert shown_at("my_lab:Mine", None) == account_of("my_lab:Mine", None) == "my_lab:Mine"


def test_what_is_no_text_is_no_model_with_options() -> None:
    with pytest.raises(SealError, match="model 3: expected a text, such as openai/gpt-4o"):
        seal.Model(3)  # type: ignore[arg-type]


TOML = f"""
[endpoints.local]
base_url = "{LOCAL}"
key_env = "LOCAL_KEY"
options = {{max_tokens = 64, top_p = 0.5}}

[endpoints.other]
base_url = "http://localhost:9000/v1"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "seal.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_endpoint_says_what_the_model_does_not(folder: Path) -> None:
    model = seal.Model("openai/qwen3@local", top_p=0.9)
    assert model == (f"openai/qwen3,base_url={LOCAL},key_env=LOCAL_KEY,max_tokens=64,top_p=0.9")
    (folder / "seal.toml").unlink()
    assert seal.Model(str(model)) == model


def test_a_run_keeps_what_its_endpoints_said(folder: Path) -> None:
    settings = RunSettings(model="lexical", role_models={"judge": ("openai/q@other", "openai/a")})
    assert settings.role_models == {
        "judge": ("openai/q,base_url=http://localhost:9000/v1", "openai/a")
    }


@pytest.mark.parametrize("name", ["claude@20250514", "@cf/meta/llama-3", "a@b.c"])
def test_a_models_own_name_may_hold_an_at_sign(folder: Path, name: str) -> None:
    assert seal.Model(f"openai/{name}").name == f"openai/{name}"
    assert RunSettings(model="scripted:dir@local").model == "scripted:dir@local"


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("", r"there is no \[endpoints.lokal\] in seal.toml of this folder; write it there"),
        (TOML, "no endpoint of seal.toml 'lokal'; known: local, other. Did you mean 'local'"),
        ("[endpoints]\nlokal = 3", "write a table for each endpoint"),
        ("[endpoints.x]\nurl = 'http://a'", r"no setting of seal.toml: \[endpoints.x\] 'url'"),
        ("[endpoints.x]\nbase_url = 'http://a:pw@b'", "http://b' holds a user or a password"),
        ("[endpoints.x]\nbase_url = 'b/v1'", "expected an address such as"),
        ("[endpoints.x]\nkey_env = 'sk-aaaaaaaaaaaaaaaaaaaaaaaa'", "looks like a key"),
        ("[endpoints.x]\noptions = 3", "options = 3: expected a table"),
        ("[endpoints.x", "seal.toml is no TOML"),
    ],
)
def test_a_wrong_endpoint_is_told_with_its_repair(folder: Path, toml: str, said: str) -> None:
    (folder / "seal.toml").write_text(toml)
    with pytest.raises(SealError, match=said) as told:
        seal.Model("openai/qwen3@lokal")
    assert "pw" not in str(told.value) and "aaaa" not in str(told.value)


def test_a_key_that_an_endpoint_lacks_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCAL_KEY", raising=False)
    with pytest.raises(SealError, match="variable LOCAL_KEY of key_env is not set; export"):
        build_model("openai/qwen3@local")


@pytest.mark.parametrize(
    ("extra", "package", "module"),
    [
        ("anthropic", "anthropic", "anthropic"),
        ("gemini", "google-genai", "google.genai"),
        ("litellm", "litellm", "litellm"),
    ],
)
def test_without_its_sdk_the_extra_of_a_provider_is_named(monkeypatch, extra, package, module):
    for name in ("ANTHROPIC", "GOOGLE"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-of-tests")
    monkeypatch.setitem(sys.modules, module, None)
    told = rf'{package} is not installed; .* pip install "seal-api-llms\[{extra}\]"'
    with pytest.raises(MissingExtraError, match=told):
        build_model(f"{extra}/some-model")
