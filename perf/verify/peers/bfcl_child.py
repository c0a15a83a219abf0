"""Run by the interpreter that has bfcl-eval, all of it: what its checkers say, too.

It answers lines as the program that SEAL ships (`seal/benchmarks/bfcl/upstream_child.py`), which
runs the classes of dialogues alone. It imports nothing else of SEAL.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seal.benchmarks.bfcl import upstream_child as shipped
else:
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "seal/benchmarks/bfcl"))
    import upstream_child as shipped

    sys.path.pop(0)  # its neighbours are named as modules of others may be

CHECKERS = "bfcl_eval.eval_checker"
LANGUAGES = {"simple_java": "JAVA", "simple_javascript": "JAVASCRIPT"}


def truth_of(item: str) -> list[Any]:
    """Return an item's ground truth."""
    return list(shipped.items(shipped.category_of(item), "possible_answer")[item]["ground_truth"])


@cache
def model() -> str:
    """Return a model of the peer's that calls functions by their own names."""
    known = import_module("bfcl_eval.constants.model_config").MODEL_CONFIG_MAPPING
    return next(str(n) for n, told in known.items() if "_" not in n and not told.underscore_to_dot)


def answer(item: str, calls: list[shipped.Call]) -> str:
    """Return what is wrong with the calls of a single-turn item; empty: nothing."""
    category = shipped.category_of(item)
    language = import_module("bfcl_eval.constants.enums").Language
    found = import_module(f"{CHECKERS}.ast_eval.ast_checker").ast_checker(
        shipped.items(category)[item]["function"],
        [{name: arguments} for name, arguments in calls],
        truth_of(item),
        language[LANGUAGES.get(category, "PYTHON")],
        category,
        model(),
    )
    return "" if found["valid"] else str(found["error_type"])


class Peer(shipped.Peer):
    """What may be asked, by name: of the checkers besides."""

    def answers(self, of: list[tuple[str, list[shipped.Call]]]) -> list[str]:
        """Return what is wrong with the calls of single-turn items (`answer`).

        Where the peer raises, it is the exception after an exclamation mark.
        """
        found = []
        for item, calls in of:
            try:
                found.append(answer(item, calls))
            except Exception as error:
                found.append(f"!{type(error).__name__}: {error}")
        return found

    def texts(self, item: str, turns: list[list[str]]) -> str:
        """Return what is wrong with calls that are written as texts; empty: nothing."""
        name = self.name()
        entry = shipped.items(shipped.category_of(item))[item]
        steps = [[turn] if turn else [] for turn in turns]
        found = import_module(f"{shipped.TURNS}.multi_turn_checker").multi_turn_checker(
            steps, truth_of(item)[: len(turns)], entry, shipped.category_of(item), name
        )
        shipped.forget(name)
        return "" if found["valid"] else str(found["error_type"])


if __name__ == "__main__":
    shipped.main(Peer)
