"""A child process of another interpreter: each question gets its own answer."""

import sys

import pytest

from seal.core import OverdueError
from seal.core.concurrency import in_time, within
from seal.sandbox.peer import Peer

CHILD = """
import json, sys, time
for line in sys.stdin:
    seconds = json.loads(line)["of"]["seconds"]
    time.sleep(seconds)
    print(json.dumps({"value": seconds}), flush=True)
"""


def test_an_answer_that_nobody_waited_for_is_not_that_of_the_next_question() -> None:
    peer = Peer([sys.executable, "-c", CHILD], 30.0)
    assert peer.ask("wait", seconds=0) == 0

    with within(0.2), pytest.raises(OverdueError):
        in_time(lambda: peer.ask("wait", seconds=0.5))

    assert peer.ask("wait", seconds=0.1) == 0.1
    peer.close()
