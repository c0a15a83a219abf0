import pytest

from seal.core import DataError, Tool, UsageError
from seal.core.store import Store
from seal.pools.imports import import_answers
from seal.simulator_cache.answer_cache import KIND
from seal.simulator_cache.exchange import StoreImport

TOOL = Tool("lab/weather/now", "now_for_weather")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def test_an_entry_that_is_stored_already_stays_as_it_is(store):
    report = StoreImport()
    for response in ("cold", "cold", "hot"):
        report.keep(store, "a" * 64, {"tool": TOOL.id, "response": response}, KIND)
    assert (report.imported, report.known, report.conflicts) == (1, 1, 1)
    assert store.get("a" * 64)["response"] == "cold"


def test_a_source_that_is_not_there_is_named(store, tmp_path):
    with pytest.raises(DataError, match=r"no file or folder .*nowhere"):
        import_answers(store, tmp_path / "nowhere", "stabletoolbench", {TOOL.id: TOOL})
    with pytest.raises(UsageError, match="'zip'; known: stabletoolbench"):
        import_answers(store, tmp_path, "zip")
    with pytest.raises(UsageError, match=r"'seal' is gone: a store is one file.*SEAL_CACHE_URL"):
        import_answers(store, tmp_path, "seal")
    with pytest.raises(UsageError, match="'toolbench'; known: stabletoolbench"):
        import_answers(store, tmp_path, "toolbench")
    with pytest.raises(UsageError, match="--pool DIR"):
        import_answers(store, tmp_path, "stabletoolbench")
