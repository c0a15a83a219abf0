"""What `import seal` offers, and how plug-ins become known by name."""

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest
from looped import every_case

import seal
from seal.api.benchmarks import catalogue, count, load_pool
from seal.api.installation import REGISTRIES, register
from seal.core import UnknownNameError, UsageError
from seal.core.registry import load_dotted

ROOT = Path(seal.__file__).parent
PLUGIN = Path(__file__).parent / "fixtures" / "plugin"


def test_the_names_are_sorted_distinct_and_few() -> None:
    assert seal.__all__ == sorted(set(seal.__all__))
    assert len(seal.__all__) <= 48


@every_case("name", seal.__all__)
def test_every_name_can_be_had(name: str) -> None:
    assert getattr(seal, name) is not None


def test_dir_lists_the_names() -> None:
    assert dir(seal) == seal.__all__


def test_the_version_is_an_attribute_beside_the_names() -> None:
    assert seal.__version__[0].isdigit()
    assert "__version__" not in dir(seal)


@pytest.mark.parametrize("name", ["Tol", "Milestone", "load_pool"])
def test_another_name_is_an_attribute_error_that_says_where_others_are(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; .* seal\.core\.types"):
        getattr(seal, name)


def test_a_name_that_would_read_a_run_is_answered_with_the_one_that_does() -> None:
    with pytest.raises(AttributeError, match=r"seal\.Run\.load reads the folder of a run"):
        seal.open  # noqa: B018


def test_a_name_that_is_gone_says_what_replaces_it() -> None:
    with pytest.raises(AttributeError, match=r"gone: seal\.split and .*docs/train-a-retriever\.md"):
        seal.train_retriever  # noqa: B018
    assert not hasattr(seal, "train_retriever")


def test_report_stays_the_function_when_its_namesake_package_is_imported() -> None:
    code = "import seal, seal.report.run_pages; print(seal.report.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "seal.api.results", done.stderr


def test_a_pool_is_counted_by_name_or_folder_with_or_without_tasks(tmp_path: Path) -> None:
    counts = count("sample")
    assert (counts.tasks, counts.tools) == (80, len(load_pool("sample").tools()))
    shutil.copy(load_pool("sample").folder / "tools.jsonl", tmp_path)
    (tmp_path / "tasks.jsonl").touch()
    alone = count(tmp_path)
    assert (alone.tasks, alone.tools, alone.tools_per_query) == (0, counts.tools, None)


def test_the_catalogue_is_a_copy_that_has_the_papers_counts() -> None:
    entries = catalogue()
    paper = entries["anytool"].paper_counts
    assert paper is not None
    assert paper.queries == 407
    entries.clear()
    assert "anytool" in catalogue()


def test_a_setting_that_run_does_not_have_names_the_closest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no setting 'retreiver'.*mean 'retriever'\?"):
        seal.run(out=tmp_path / "r", retreiver="tfidf")
    assert not (tmp_path / "r").exists()


def test_annotations_of_run_resolve() -> None:
    from seal.runs.play import Progress

    hints = get_type_hints(seal.run, localns={"Run": seal.Run, "Progress": Progress})
    assert hints["return"] is seal.Run


@every_case("kind", sorted(REGISTRIES))
def test_every_kind_of_plugin_has_a_registry(kind: str) -> None:
    registry = load_dotted(REGISTRIES[kind])
    assert registry.group.startswith("seal.")
    assert registry.names() == sorted(registry.names())


@pytest.mark.parametrize("kind", sorted(REGISTRIES))
def test_everything_of_ours_can_be_imported(kind: str) -> None:
    registry = load_dotted(REGISTRIES[kind])
    for name in registry.names():
        assert registry.resolve(name) is not None


DOTTED = re.compile(r"""["'](seal\.\w+\.[\w.]+?)(?::(\w+))?["'](?!\s*=)""")
"""A module, or module and attribute, in quotes; what is given a value is a name of its own."""


def test_every_dotted_path_that_our_files_hold_as_text_leads_somewhere() -> None:
    held = [ROOT.parent / "pyproject.toml"]
    held += [p for p in ROOT.rglob("*") if p.suffix in (".py", ".json", ".toml")]
    held.remove(ROOT / "core" / "moved_modules.json")  # names what is no more
    found = {pair for path in held for pair in DOTTED.findall(path.read_text(encoding="utf-8"))}
    assert ("seal.benchmarks.mmtb", "TABLES") in found
    assert ("seal.core.state_conditions", "") in found
    for module, attribute in sorted(found):
        loaded = import_module(module)
        assert not attribute or hasattr(loaded, attribute), f"{module} has no {attribute}"


def test_type_checkers_read_the_names_that_are_loaded_late() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    guarded = (one for one in tree.body if isinstance(one, ast.If))
    imports = [one for block in guarded for one in block.body if isinstance(one, ast.ImportFrom)]
    read = {name.name: one.module for one in imports for name in one.names}
    assert {name: seal._HOMES[name] for name in seal.__all__} == read


def test_a_registered_plugin_is_found_by_name() -> None:
    class Mine:
        pass

    register("agent", "mine-of-this-test", Mine)
    assert load_dotted(REGISTRIES["agent"]).resolve("mine-of-this-test") is Mine
    with pytest.raises(UsageError, match="exists already"):
        register("agent", "mine-of-this-test", Mine)


def test_an_unknown_kind_names_the_closest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'retriever'"):
        register("retreiver", "x", object())


@pytest.fixture
def sample_folder(tmp_path: Path) -> str:
    """The shipped sample, as a folder named by a text."""
    folder = tmp_path / "pool"
    shutil.copytree(load_pool("sample").folder, folder)
    return str(folder)


def test_paths_may_be_texts(sample_folder: str, tmp_path: Path) -> None:
    cache, run = str(tmp_path / "cache"), str(tmp_path / "run")
    settings = {"limit": 2, "baselines": False, "cache_dir": cache}

    seal.run(sample_folder, out=run, **settings)
    summary = seal.score(run, cache_dir=cache).summary

    assert summary["tasks"] == 2
    assert len(list(seal.Run.load(run).folder.tasks())) == 2
    assert load_pool(sample_folder).digest == load_pool("sample").digest
    with pytest.raises(UsageError, match="no file or folder nowhere"):
        seal.import_benchmark("toolbench", "nowhere", str(tmp_path / "imported"))


def test_a_single_pool_retriever_and_cutoff_count_as_a_list_of_one(
    sample_folder: str, tmp_path: Path
) -> None:
    cache, out = str(tmp_path / "cache"), str(tmp_path / "found")

    alone = seal.retrieve(sample_folder, "tfidf", k=5, limit=3, out=out, cache_dir=cache).content

    assert (
        alone == seal.retrieve([sample_folder], ["tfidf"], k=[5], limit=3, cache_dir=cache).content
    )
    assert len(alone["results"]) == 1
    assert "sample-tfidf" in [path.name for path in Path(out).iterdir()]


def test_a_pool_that_is_nowhere_is_named_whole() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'sample'"):
        seal.retrieve("sampel", "tfidf")
    with pytest.raises(UnknownNameError, match="'no-such-folder'"):
        load_pool("no-such-folder")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the fixture distribution, installed as pip would."""
    folder = tmp_path_factory.mktemp("plugin")
    source = folder / "source"
    copy_tree(PLUGIN, source)
    target = folder / "target"
    options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "--target", str(target)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(source)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return target


def copy_tree(source: Path, target: Path) -> None:
    """Copy, so that building leaves nothing in the repository."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize(
    ("registry", "name", "attribute"),
    [
        ("seal.retrievers.build:REGISTRY", "longest_name", "LongestName"),
        ("seal.agents:REGISTRY", "one_step_planner", "OneStepPlanner"),
        ("seal.evaluation:REGISTRY", "step_count", "StepCount"),
        ("seal.environments:REGISTRY", "lamps", "lamps"),
    ],
)
def test_an_installed_plugin_is_found_by_its_entry_point(
    installed: Path, registry: str, name: str, attribute: str
) -> None:
    code = (
        "from seal.core.registry import load_dotted\n"
        f"registry = load_dotted({registry!r})\n"
        f"assert {name!r} in registry.names()\n"
        f"print(registry.resolve({name!r}).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )
    assert done.stdout.strip() == attribute, done.stderr


@pytest.mark.slow
def test_an_installed_plugin_is_named_on_the_command_line(installed: Path, tmp_path: Path) -> None:
    words = ["run", "--role", "planner=one_step_planner", "--retriever", "longest_name"]
    done = subprocess.run(
        [sys.executable, "-m", "seal", *words, "--limit", "3", "--no-baselines", "--out", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(installed),
            "SEAL_CACHE_DIR": str(tmp_path / "cache"),
        },
    )
    assert done.returncode == 0, done.stderr


def test_no_package_defines_what_a_module_of_it_would_hide() -> None:
    """Whoever imports the module sets its name in the package."""
    hidden = {}
    for init in Path(seal.__file__).parent.rglob("*/__init__.py"):
        kinds = (ast.FunctionDef, ast.ClassDef)
        names = {n.name for n in ast.parse(init.read_text()).body if isinstance(n, kinds)}
        modules = {path.stem for path in init.parent.iterdir()}
        if both := names & modules:
            hidden[init.parent.name] = both
    assert hidden == {}
