"""Run by the peer's interpreter: its own checker on calls as texts, one dialogue a line.

In: `{"id", "turns": [[text of a call]]}`. Out: what is wrong with it, as JSON; "" is nothing.
"""

import json
import sys
from pathlib import Path

import bfcl_eval
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

DATA = Path(next(iter(bfcl_eval.__path__))) / "data"


def records(folder: Path) -> dict[str, dict]:
    found = {}
    for path in folder.glob("BFCL_v4_multi_turn_*.json"):
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)
            found[record["id"]] = record
    return found


items, truths = records(DATA), records(DATA / "possible_answer")
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    item = asked["id"]
    steps = [[[call] for call in turn] for turn in asked["turns"]]
    truth = truths[item]["ground_truth"]
    category = item.rsplit("_", 1)[0]
    told = multi_turn_checker(steps, truth, items[item], category, f"direct{number}")
    print(json.dumps("" if told["valid"] else told["error_type"]))
