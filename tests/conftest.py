"""Fixtures that every test may use."""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import no_sync  # noqa: F401
import pytest
from hypothesis import HealthCheck, settings
from once import Once
from postgres_server import PostgresServer, postgres_server, programs

import seal.retrievers.build
from seal.core.files import cache_folder
from seal.core.model_files import fetch
from seal.pools.imports import ImportReport, import_benchmark

# A busy machine is no failure. .ci/run tries the whole number of examples, the same ones each time;
# .ci/full tries other ones each time.
settings.register_profile("whole", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("whole"), derandomize=True)
settings.register_profile("quick", settings.get_profile("whole"), max_examples=40)
settings.load_profile("quick")

# A shell that starts the tests in the background has them, and what they start, ignore Ctrl-C;
# nohup has them ignore SIGHUP.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Where no bytecode is kept, each of the hundreds of processes that are started compiles all anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Words are quicker than an encoder; the tests of the default take `general_retriever`.
GENERAL = seal.retrievers.build.DEFAULT
seal.retrievers.build.DEFAULT = "tfidf"

ROOT = Path(__file__).resolve().parents[1]
if (DATA := ROOT.parent / "shared" / "data").is_dir():
    os.environ.setdefault("SEAL_DATA", str(DATA))


def pytest_configure(config: pytest.Config) -> None:
    """Leave the user's cache alone; the processes of this test run share one."""
    if "SEAL_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="seal-tests-")
        if (fetched := cache_folder() / "models").is_dir():
            Path(folder, "models").symlink_to(fetched)
        os.environ["SEAL_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(optionalhook=True)  # there may be no xdist
def pytest_xdist_auto_num_workers() -> int | None:
    """Three processes more than cores: many a test waits for a time limit or another process.

    With one more, two cores had work for 73 % of the time.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
    return len(cores) + 3


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage meanwhile, and look no more at thousands of tests for garbage later.

    Then start the server of tests that fork processes.
    """
    gc.disable()
    result = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    if forked := sys.modules.get("forked"):  # a run in processes would start another server
        forked.ensure_server()
    return result


@pytest.fixture
def general_retriever(monkeypatch: pytest.MonkeyPatch) -> str:
    """The retriever of whoever names none, in this test; its encoder is here."""
    fetch("all-MiniLM-L6-v2")
    monkeypatch.setattr("seal.retrievers.build.DEFAULT", GENERAL)
    return GENERAL


@pytest.fixture(scope="session")
def seal_data() -> Path:
    """Folder of real benchmark files; the test is skipped where it is absent."""
    folder = Path(os.environ.get("SEAL_DATA") or DATA)
    if not folder.is_dir():
        pytest.skip(f"no benchmark files at {folder}: set SEAL_DATA")
    return folder


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """What all processes of this test run make once."""
    own = tmp_path_factory.getbasetemp()
    return Once(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture(scope="session")
def sgd_pool(seal_data: Path, once: Once) -> tuple[Path, ImportReport]:
    """Folder and report of the pool of SGD's real test files; nothing may be written there."""
    source = seal_data / "sgd"
    return once.made("sgd", lambda folder: import_benchmark("dialogtool", source, folder))


@pytest.fixture(scope="session")
def toolbench_pool(seal_data: Path, once: Once) -> tuple[Path, ImportReport]:
    """Folder and report of the pool of ToolBench's real files; nothing may be written there."""
    source = seal_data / "toolbench"
    return once.made("toolbench", lambda folder: import_benchmark("toolbench", source, folder))


@pytest.fixture(scope="session")
def postgres() -> Generator[PostgresServer, None, None]:
    """A PostgreSQL server of this process; the test is skipped where none is installed."""
    if programs() is None:
        pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
    with postgres_server() as server:
        yield server
