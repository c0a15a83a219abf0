"""A stand-in for bfcl-eval: a package with its module names, and the interpreter that has it."""

from __future__ import annotations

import sys
from pathlib import Path

_FILES = {
    "constants/enums.py": """
from enum import Enum
Language = Enum("Language", ["PYTHON", "JAVA", "JAVASCRIPT"])
""",
    "constants/model_config.py": """
from types import SimpleNamespace
MODEL_CONFIG_MAPPING = {
    "a_b": SimpleNamespace(underscore_to_dot=False),
    "dotted": SimpleNamespace(underscore_to_dot=True),
    "plain": SimpleNamespace(underscore_to_dot=False),
}
""",
    "constants/executable_backend_config.py": """
CLASS_FILE_PATH_MAPPING = {"GorillaFileSystem": "bfcl_eval.shelf"}
""",
    "shelf.py": """
import os, time
class Folder:
    def __init__(self, above):
        self.above, self.files, self._hidden = above, ["a"], 1
class GorillaFileSystem:
    def __init__(self):
        self.root, self.size, self._seen = Folder(None), float("inf"), object()
        self.root.below = Folder(self.root)
    def move(self, source, destination=None):
        if source == "sleep":
            time.sleep(30)
        if source == "die":
            os._exit(3)
        if source not in self.root.files:
            return {"error": f"no {source}"}
        self.root.files.remove(source)
        self.root.files.append(destination)
        print("moved")
        return {"moved": source}
    def sort(self, file):
        return 1 / 0
    def copy(self, file):
        return file
""",
    "eval_checker/ast_eval/ast_checker.py": """
def ast_checker(functions, calls, truth, language, category, model):
    assert (model, language.name) == ("plain", "JAVA" if "java" in category else "PYTHON")
    if calls == [{"crash": {}}]:
        raise KeyError("crash")
    names = [next(iter(call)) for call in calls]
    right = names == [next(iter(call)) for call in truth] and all(
        isinstance(value, str) for call in calls for given in call.values()
        for value in given.values()
    )
    return {"valid": right, "error_type": "wrong"}
""",
    "eval_checker/multi_turn_eval/multi_turn_utils.py": """
import json
from bfcl_eval.shelf import GorillaFileSystem
def execute_multi_turn_func_call(calls, config, classes, name, item, long_context=False):
    kept = f"{name}_{item}_instance"
    one = globals().setdefault(kept, GorillaFileSystem())
    results = []
    for call in calls:
        try:
            found = eval(call, {m: getattr(one, m) for m in dir(one) if m[0] != "_"})
            results.append(json.dumps(found) if isinstance(found, dict) else str(found))
        except Exception as error:
            results.append(f"Error during execution: {error}")
    return results, {"GorillaFileSystem": one}
""",
    "eval_checker/multi_turn_eval/multi_turn_checker.py": """
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call
def multi_turn_checker(turns, truth, entry, category, name):
    assert f"{name}_{entry['id']}_instance" not in execute_multi_turn_func_call.__globals__
    for steps, gold in zip(turns, truth):
        states = []
        for who, calls in ((name, [c for step in steps for c in step]), (f"{name}_gold", gold)):
            _, made = execute_multi_turn_func_call(calls, {}, [], who, entry["id"])
            states.append(made["GorillaFileSystem"].root.files)
        if states[0] != states[1]:
            return {"valid": False, "error_type": "state"}
    return {"valid": True}
""",
}


def stand_in(folder: Path, data: Path) -> Path:
    """Return a program that runs Python with the package.

    Args:
        folder: Where it is made.
        data: BFCL's files, which the package ships.
    """
    package = folder / "bfcl_eval"
    for name, text in _FILES.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        for above in path.relative_to(package).parents:
            (package / above / "__init__.py").touch()
    (package / "data").symlink_to(data)
    told = folder / "bfcl_eval-2026.3.23.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: bfcl-eval\nVersion: 2026.3.23\n")
    program = folder / "python"
    program.write_text(
        f"#!{sys.executable}\n"
        "import runpy, sys\n"
        f"sys.path.insert(0, {str(folder)!r})\n"
        "assert sys.argv[1] == '-I'\n"
        "sys.argv = sys.argv[2:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    program.chmod(0o755)
    return program
