import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seal.core import DataError, InfrastructureError, UsageError
from seal.core.canonical import digest
from seal.core.store import Store, digest_of_entries

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "cache" / "answers.sqlite") as opened:
        yield opened


def rewrite(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


def test_an_entry_is_found_under_its_key_and_nothing_under_another(store):
    store.put("k", {"response": [1, 2.0, None]})
    assert store.get("k") == {"response": [1, 2.0, None]}
    assert store.get("other") is None


def test_the_first_writer_wins_and_the_second_is_given_the_stored_entry(store):
    assert store.put("k", {"answer": "first"}) == {"answer": "first"}
    assert store.put("k", {"answer": "second"}) == {"answer": "first"}
    assert store.get("k") == {"answer": "first"}


def test_put_returns_what_a_later_reader_will_see(store):
    assert store.put("k", {"pair": (1, 2)}) == {"pair": [1, 2]}


@given(value=st.dictionaries(st.text(), JSON, max_size=4))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
def test_every_json_value_comes_back_as_it_was(store, value):
    key = digest(repr(value))
    assert store.put(key, value) == value
    assert store.get(key) == value


def test_values_that_json_cannot_hold_are_refused_and_not_stored(store):
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.put("k", {"x": float("nan")})
    with pytest.raises(TypeError):
        store.put("k", {"x": object()})
    assert store.get("k") is None


def test_entries_come_by_kind_in_the_order_of_their_keys(store):
    for number in range(1200):
        kind = "simulator" if number % 2 else "model"
        store.put(digest(number), {"n": number}, kind)
    keys = [entry.key for entry in store.entries("simulator")]
    assert keys == sorted(digest(n) for n in range(1, 1200, 2))
    assert len(list(store.entries())) == 1200
    assert store.stats().entries == {"model": 600, "simulator": 600}
    assert store.stats().bytes > 0


def test_an_entry_remembers_when_it_was_made(store):
    store.put("old", {}, created="2020-01-01T00:00:00+00:00")
    store.put("new", {})
    new, old = store.entries()
    assert old.created == "2020-01-01T00:00:00+00:00"
    assert new.created > "2024"


def test_threads_share_a_store(store):
    def write(worker: int) -> None:
        for number in range(50):
            store.put(f"{worker}/{number}", {"n": number})
            store.put(f"shared/{number}", {"winner": worker})

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(store.entries())) == 8 * 50 + 50


def write_many(path: Path, worker: int, out: Path) -> None:
    with Store(path) as store:
        winners = [store.put(f"shared/{n}", {"winner": worker}) for n in range(100)]
        for number in range(100):
            store.put(f"own/{worker}/{number}", {"n": number})
    out.write_text(json.dumps(winners))


@pytest.mark.slow
def test_eight_processes_write_at_once_and_nothing_is_lost(tmp_path):
    path = tmp_path / "answers.sqlite"
    context = multiprocessing.get_context("spawn")
    outs = [tmp_path / f"{worker}.json" for worker in range(8)]
    workers = [
        context.Process(target=write_many, args=(path, worker, out))
        for worker, out in enumerate(outs)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    with Store(path) as store:
        assert len(list(store.entries())) == 8 * 100 + 100
        stored = [store.get(f"shared/{n}") for n in range(100)]
    assert all(json.loads(out.read_text()) == stored for out in outs)


WRITER = """
import sys
from seal.core.store import Store
store = Store(sys.argv[1])
for number in range(10**9):
    store.put(f"k{number}", {"n": number})
    print(number, flush=True)
"""


def test_a_killed_writer_loses_no_answer_that_put_returned(tmp_path):
    path = tmp_path / "answers.sqlite"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    while int(writer.stdout.readline()) < 200:
        pass
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read().splitlines()
    writer.stdout.close()
    writer.wait(30)
    with Store(path) as store:
        returned = max([200, *(int(line) for line in rest if line)])
        assert all(store.get(f"k{n}") == {"n": n} for n in range(returned + 1))
        assert store.put("after", {"fine": True}) == {"fine": True}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_opens_its_own_connections(store):
    store.put("parent", {"n": 1})
    child = os.fork()
    if child == 0:
        store.put("child", {"n": 2})
        os._exit(0 if store.get("parent") == {"n": 1} else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.get("child") == {"n": 2}


def test_a_pickled_store_opens_the_same_file(store):
    store.put("k", {"n": 1})
    with pickle.loads(pickle.dumps(store)) as copy:
        assert copy.get("k") == {"n": 1}


def test_a_damaged_entry_is_never_given_out(store):
    store.put("bad", {"response": "rain"})
    store.put("good", {"response": "sun"})
    rewrite(store.path, "UPDATE entries SET value = ? WHERE key = 'bad'", '{"response":"snow"}')
    with pytest.raises(InfrastructureError, match="entry bad is damaged"):
        store.get("bad")
    with pytest.raises(InfrastructureError, match="entry bad is damaged"):
        store.put("bad", {"response": "hail"})
    assert [(e.key, e.value) for e in store.entries()] == [
        ("bad", None),
        ("good", {"response": "sun"}),
    ]


def test_bytes_that_are_no_text_show_as_damage(store):
    store.put("bad", {"n": 1})
    rewrite(store.path, "UPDATE entries SET value = CAST(x'ff7b7d' AS TEXT)")
    assert [entry.value for entry in store.entries()] == [None]


def test_damaged_entries_can_be_discarded(store):
    store.put("bad", {"n": 1})
    store.put("good", {"n": 2})
    rewrite(store.path, "UPDATE entries SET checksum = 'x' WHERE key = 'bad'")
    assert store.discard_damaged() == ["bad"]
    assert store.put("bad", {"n": 3}) == {"n": 3}
    assert store.get("good") == {"n": 2}


def test_a_store_of_another_version_says_what_to_do(store):
    rewrite(store.path, "PRAGMA user_version = 7")
    with pytest.raises(DataError, match=r"version 7, this SEAL reads version 1: export it"):
        Store(store.path)


def test_a_file_that_is_no_store_is_named(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be read as one" * 40)
    with pytest.raises(DataError, match=r"notes.txt is no answer store"):
        Store(text)
    foreign = tmp_path / "foreign.sqlite"
    rewrite(foreign, "CREATE TABLE songs (title TEXT)")
    with pytest.raises(DataError, match="it holds other tables"):
        Store(foreign)


def test_a_path_that_cannot_be_opened_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be opened: File exists; give another"):
        Store(tmp_path / "file" / "answers.sqlite")
    with pytest.raises(UsageError, match="cannot be opened: unable to open"):
        Store(tmp_path)


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(InfrastructureError, match="closed"):
        store.get("k")


def test_a_connection_that_is_lent_while_the_store_closes_is_closed_when_it_returns(store):
    with store._connection() as lent:
        store.close()
        lent.execute("SELECT 1")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lent.execute("SELECT 1")


def test_the_digest_of_entries_depends_on_content_alone(tmp_path):
    digests = []
    for name, created in (("a", "2020-01-01"), ("b", "2021-01-01")):
        with Store(tmp_path / name) as store:
            store.put("k1", {"n": 1, "m": 2}, created=created)
            store.put("k2", {"n": 2}, created=created)
            digests.append(digest_of_entries(store, ["k2", "k1", "k1"]))
    assert digests[0] == digests[1]
    with Store(tmp_path / "c") as store:
        store.put("k1", {"n": 9})
        store.put("k2", {"n": 2})
        assert digest_of_entries(store, ["k1", "k2"]) != digests[0]


def test_many_entries_are_written_at_once_and_found_in_the_order_of_their_keys(store):
    entries = {f"k{n}": {"n": n} for n in range(1201)}
    keys = [*entries, "none", "k7", "k7"]

    assert store.put_each(entries, "embedding") == list(entries.values())
    assert list(store.get_each(keys)) == [*entries.values(), None, {"n": 7}, {"n": 7}]
    assert store.stats().entries == {"embedding": 1201}


def test_of_many_entries_those_that_are_stored_stay(store):
    store.put("b", {"n": "first"})

    assert store.put_each({"a": {"n": 1}, "b": {"n": 2}}) == [{"n": 1}, {"n": "first"}]
    assert store.put_each({}) == list(store.get_each([])) == []


def test_many_entries_are_stored_all_or_not_at_all(store):
    with pytest.raises(ValueError):
        store.put_each({"a": {"n": 1}, "b": {"n": float("nan")}})
    rewrite(store.path, "CREATE TRIGGER no BEFORE INSERT ON entries WHEN NEW.key = 'd' "
            "BEGIN SELECT RAISE(ABORT, 'full'); END")  # fmt: skip
    with pytest.raises(InfrastructureError, match="full"):
        store.put_each({"c": {"n": 1}, "d": {"n": 2}})

    assert list(store.get_each(["a", "b", "c", "d"])) == [None] * 4
    assert store.put("e", {"n": 3}) == {"n": 3}


def test_a_damaged_entry_among_many_is_told(store):
    store.put_each({"a": {"n": 1}, "b": {"n": 2}})
    rewrite(store.path, "UPDATE entries SET value = '{}' WHERE key = 'b'")
    with pytest.raises(InfrastructureError, match="entry b is damaged"):
        list(store.get_each(["a", "b"]))
