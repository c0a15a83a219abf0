"""Ten thousand tasks of real length: what a reader waits for and loads before a task is opened."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from report_runs import Writer, chat, metric, task, verdict

from seal.report.pages import FILES, asset, linked
from seal.viewer.shelf import Shelf

TASKS = 10_000
MOST = 300_000
"""Bytes of a page with all that it loads by itself."""
TEXT = "Find the cheapest train from Lyon to Geneva on Friday, and book a seat by the window. " * 3


@pytest.mark.slow
def test_ten_thousand_tasks_open_like_a_few(tmp_path: Path) -> None:
    ids = [f"own/{number:05}" for number in range(TASKS)]
    long = replace(chat("x"), answers=("The train leaves at 08:04. " * 200,))
    Writer(tmp_path)(
        "big",
        (task(id, TEXT) for id in ids),
        (replace(long, task_id=id) for id in ids),
        (verdict(id, "solved") for id in ids),
        {"pass_rate": metric(1.0, TASKS)},
    )
    shelf = Shelf([tmp_path])
    shelf.facts()  # imports

    began = time.process_time()
    page = "".join(shelf.page(["big"], **linked("/"), source="{key}"))
    seconds = time.process_time() - began
    keys = ["index/0.json", "rows/0.json"]
    # Sections load as a reader comes to them; all of them are counted.
    late = [f"section/{n}.html" for n in re.findall(r'data-section="(\d+)"', page)]
    loaded = [page, *map(asset, FILES), *(shelf.block(["big"], key) or "" for key in keys + late)]

    (start,) = re.findall(r'data-start="0">(.*?)</script>', page)
    assert seconds < 1
    whole = json.loads(shelf.block(["big"], "rows/0.json"))
    # What needs a task or a chat as a whole comes with the first portion.
    bare = [[*row[:3], [[chat[:4] for chat in lane] for lane in row[3]], ""] for row in whole]
    assert json.loads(start)["rows"] == bare != whole
    assert sum(len(text.encode()) for text in loaded) < MOST
    assert (shelf.block(["big"], "chat/0/9999/0.html") or "").count('<li class="step') == 4
