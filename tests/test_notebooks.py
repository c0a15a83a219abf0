"""The notebooks as they are committed; `.ci/full` executes them."""

import ast
import re
from pathlib import Path

import orjson
import pytest

import seal

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
_PATHS = re.compile(r"(?<![\w./])/(?:home|root|tmp|Users|work|usr|var)/|[A-Z]:\\\\Users")


def code_cells(notebook):
    cells = orjson.loads(notebook.read_bytes())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_are_few_notebooks_and_their_list_names_each():
    told = (NOTEBOOKS[0].parent / "README.md").read_text()
    named = re.findall(r"\((\w+\.ipynb)\)", told)
    assert 4 <= len(NOTEBOOKS) <= 6 and sorted(named) == [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_no_missing_value(notebook):
    for cell in code_cells(notebook):
        assert "pivot" not in "".join(cell["source"])
        for output in cell["outputs"]:
            assert not re.search(r"\bNaN\b", "".join(output.get("data", {}).get("text/plain", "")))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_run_to_its_end_in_order(notebook):
    cells = code_cells(notebook)

    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert "error" not in kinds


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_no_folder_of_the_machine_that_ran_it(notebook):
    assert not _PATHS.search(notebook.read_text())


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_the_public_names_alone(notebook):
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in code_cells(notebook)))

    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seal"):
            assert node.module == "seal.api.benchmarks"  # which `import seal` shows a part of
        if isinstance(node, ast.Import):
            assert not any(name.name.startswith("seal.") for name in node.names)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "seal":
            assert node.attr in seal.__all__


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small(notebook):
    assert notebook.stat().st_size < 400_000
