"""`seal models`: the list, and the probe of one model."""

import json
from time import monotonic

import pytest
from servers import Answer, ModelServer, Received, failure, late, text

import seal.core.connections  # noqa: F401  # the first to ask a server loads it, within its time


def listening(request: Received) -> Answer:
    """Answer as a server without tool calling whose model writes actions."""
    if "tools" in request.body:
        return failure(400, "no tools here")
    if "QUILL-83" in request.body["messages"][-1]["content"]:
        return text("17.4 by QUILL-83")
    return text('Action: get_temperature\nAction Input: {"city": "Bern"}')


@pytest.fixture
def url():
    with ModelServer(listening) as server:
        yield server.url


def test_the_list_is_what_it_was(called):
    done = called("models", "--json")
    assert done.returncode == 0
    assert {"lexical", "openai", "oracle"} <= json.loads(done.stdout)["models"].keys()


def test_the_list_has_columns(called):
    lines = called("models").stdout.splitlines()
    told = json.loads(called("models", "--json").stdout)["models"]
    starts = [line.index(text) for line, text in zip(lines, told.values(), strict=True)]
    assert len(set(starts)) == 1 and "gold_calls  the oracle" in "\n".join(lines)


def test_a_probe_says_what_a_model_can_do_and_how_to_play_it(called, url):
    done = called("models", "probe", "openai/x", "--base-url", url)
    assert done.returncode == 0, done.stderr
    rows = [line.split("│")[1:-1] for line in done.stdout.splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["native", "native", "refused", "refused", "refused"],
        ["native-text", "text", "refused", "refused", "refused"],
        ["action", "text", "yes", "no", "yes"],
        ["json", "text", "no", "no", "yes"],
    ]
    assert "no tools here" in done.stdout
    assert done.stdout.rstrip().endswith("seal run --model openai/x --format action")


def test_a_probe_as_json_is_one_object(called, url):
    done = called("models", "probe", "openai/x", "--base-url", url, "--json")
    found = json.loads(done.stdout)
    assert found["use"] == ["--format", "action"]
    assert found["ways"][2]["parallel"]["answer"] == "no"


def test_a_model_that_can_nothing_exits_with_one(called):
    with ModelServer(lambda request: text("Hello.")) as server:
        done = called("models", "probe", "openai/x", "--base-url", server.url)
    assert done.returncode == 1
    assert "can be played in no format" in done.stdout


def test_a_server_that_is_gone_is_told(called):
    done = called(
        "models", "probe", "openai/x", "--base-url", "http://127.0.0.1:9/v1", "-M", "max_tries=1"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "could not be reached" in done.stderr


def test_a_key_too_short_to_be_one_is_not_starred_out(called, url):
    done = called("models", "probe", "openai/x", "--base-url", url, OPENAI_API_KEY="o")
    assert "no tools here" in done.stdout and "***" not in done.stdout


def test_a_key_is_starred_out(called):
    with ModelServer(lambda request: failure(400, "bad key k3y!")) as server:
        where = ("--base-url", server.url)
        done = called("models", "probe", "openai/x", *where, OPENAI_API_KEY="k3y!")
    assert "bad key ***" in done.stdout and "k3y!" not in done.stdout


def test_a_check_says_who_is_asked_where_and_who_answers(called, tmp_path):
    with ModelServer(lambda request: text("OK, gladly.")) as server:
        (tmp_path / "seal.toml").write_text(
            f'model = "openai/a@here"\nrole-model = {{judge = "openai/b@gone"}}\n'
            f'[endpoints.here]\nbase_url = "{server.url}"\n'
            '[endpoints.gone]\nbase_url = "http://127.0.0.1:9/v1"\nkey_env = "GONE_KEY"\n'
        )
        done = called("models", "check")
        keyed = called("models", "check", "openai/b@gone", "lexical", GONE_KEY="k3y!")
    assert len(server.received) == 1
    first, second = done.stdout.splitlines()
    assert first.startswith(f"openai/a at {server.url}: answers within ")
    assert first.endswith(": 'OK, gladly.'")
    assert second == (
        "openai/b@gone: does not answer: model openai/b: the environment variable GONE_KEY of "
        "key_env is not set; export GONE_KEY=KEY, or leave key_env out where the server needs "
        "no key"
    )
    assert done.returncode == keyed.returncode == 1
    first, second = keyed.stdout.splitlines()
    assert first.startswith("openai/b at http://127.0.0.1:9/v1: does not answer: ")
    assert second == "lexical: asks nobody"


def test_a_check_of_nobody_says_how_to_name_one(called):
    done = called("models", "check")
    assert done.returncode == 2 and "openai/NAME@ENDPOINT" in done.stderr


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_check_does_not_repeat_a_secret(called, as_json):
    address = "http://user:s3cretpw@127.0.0.1:9/v1"
    done = called("models", "check", f"openai/x,base_url={address}", *as_json)
    assert done.returncode == 1 and "s3cretpw" not in done.stdout + done.stderr
    assert "openai/x: 'http://127.0.0.1:9/v1' holds a user or a password" in done.stdout
    for flags in (("--base-url", address), ("-M", f"base_url={address}")):
        done = called("models", "probe", "openai/x", *flags)
        assert done.returncode == 2 and "s3cretpw" not in done.stdout + done.stderr
        assert "'http://127.0.0.1:9/v1' holds a user or a password: write" in done.stderr


def dripping(request: Received) -> Answer:
    """Answer by a stream that goes on for longer than a check."""
    event = 'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n'
    return Answer(event.encode() * 40, headers={"Content-Type": "text/event-stream"}, drip_s=0.1)


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (dripping, "was still answering when the time was up; a check ends after 1 s"),
        (lambda request: late(12.0, text("OK")), "gave no answer before the time was up (tried "),
    ],
    ids=["dripping", "silent"],
)
def test_a_check_has_an_end_and_says_first_who_is_asked(called, monkeypatch, server, told):
    monkeypatch.setattr("seal.cli.models_verb._LONGEST_S", 1.0)
    with ModelServer(server) as running:
        began = monotonic()
        done = called("models", "check", f"openai/x,base_url={running.url}")
        assert monotonic() - began < 10
    assert done.returncode == 1
    assert f"openai/x at {running.url}: does not answer: " in done.stdout and told in done.stdout
    assert done.stdout.rstrip().endswith("a check ends after 1 s")
    assert f"asking openai/x at {running.url}, for at most 1 s" in done.stderr
