import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres_server import PostgresServer

from seal.core import DataError, InfrastructureError, Response, Tool, UsageError
from seal.core.sqlite_store import SqliteAnswers
from seal.core.store import Store, digest_of_entries, open_store
from seal.core.values import digest
from seal.simulator_cache.answer_cache import KIND, answer_entry, document_digest, entry_key
from seal.simulator_cache.exchange import verify

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def rewrite(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


class SqlitePlace:
    """Where a store in a file lies, and what others may do to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.at = folder / "cache" / "answers.sqlite"

    def beside(self, name: str) -> Path:
        return self._folder / name

    def damage(self, key: str, value: bytes) -> None:
        rewrite(self.at, "UPDATE entries SET value = CAST(? AS TEXT) WHERE key = ?", value, key)

    def set_version(self, version: int) -> None:
        rewrite(self.at, f"PRAGMA user_version = {version}")

    def refuse(self, key: str) -> None:
        rewrite(
            self.at,
            f"CREATE TRIGGER no BEFORE INSERT ON entries WHEN NEW.key = '{key}' "
            "BEGIN SELECT RAISE(ABORT, 'full'); END",
        )


class PostgresPlace:
    """The same in a schema of a database."""

    def __init__(self, server: PostgresServer, schema: str) -> None:
        self._server = server
        self._schema = schema
        self.at = self.beside("main")

    def beside(self, name: str) -> str:
        schema = f"{self._schema}_{name}"
        with psycopg.connect(self._server.url()) as connection:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        return self._server.url(schema)

    def _execute(self, statement: str, *values: object) -> None:
        with psycopg.connect(self.at) as connection:
            connection.execute(statement, values or None)

    def damage(self, key: str, value: bytes) -> None:
        self._execute("UPDATE seal_answers SET value = %s WHERE key = %s", value, key.encode())

    def set_version(self, version: int) -> None:
        self._execute(f"COMMENT ON TABLE seal_answers IS 'SEAL answer store, version {version}'")

    def refuse(self, key: str) -> None:
        self._execute(f"ALTER TABLE seal_answers ADD CONSTRAINT full_ CHECK (key <> '{key}')")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request, tmp_path):
    if request.param == "sqlite":
        return SqlitePlace(tmp_path)
    return PostgresPlace(request.getfixturevalue("postgres"), f"s{digest(str(tmp_path))[:12]}")


@pytest.fixture
def store(place):
    with Store(place.at) as opened:
        yield opened


def write_many(path: Path | str, worker: int, out: Path) -> None:
    with Store(path) as store:
        winners = [store.put(f"shared/{n}", {"winner": worker}) for n in range(100)]
        for number in range(100):
            store.put(f"own/{worker}/{number}", {"n": number})
    out.write_text(json.dumps(winners))


WRITER = """
import sys
from seal.core.store import Store
store = Store(sys.argv[1])
for number in range(10**9):
    store.put(f"k{number}", {"n": number})
    print(number, flush=True)
"""


def put_many(path: Path | str, worker: int) -> None:
    """Put 11,875 answers of its own, and 5,000 that the seven others put too."""
    with Store(path) as store:
        for number in range(11_875):
            store.put(f"own/{worker}/{number}", {"n": number}, "simulator")
            if number < 5_000:
                assert store.put(f"shared/{number}", {"n": number}, "simulator") == {"n": number}


class TestStore:
    """What holds of every store, wherever its rows lie."""

    def test_an_entry_is_found_under_its_key_and_nothing_under_another(self, store):
        store.put("k", {"response": [1, 2.0, None]})
        assert store.get("k") == {"response": [1, 2.0, None]}
        assert store.get("other") is None

    def test_the_first_writer_wins_and_the_second_is_given_the_stored_entry(self, store):
        assert store.put("k", {"answer": "first"}) == {"answer": "first"}
        assert store.put("k", {"answer": "second"}) == {"answer": "first"}
        assert store.get("k") == {"answer": "first"}

    def test_put_returns_what_a_later_reader_will_see(self, store):
        assert store.put("k", {"pair": (1, 2)}) == {"pair": [1, 2]}

    @given(value=st.dictionaries(st.text(), JSON, max_size=4))
    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
    )
    def test_every_json_value_comes_back_as_it_was(self, store, value):
        key = digest(repr(value))
        assert store.put(key, value) == value
        assert store.get(key) == value

    def test_values_that_json_cannot_hold_are_refused_and_not_stored(self, store):
        with pytest.raises(ValueError, match="not JSON compliant"):
            store.put("k", {"x": float("nan")})
        with pytest.raises(TypeError):
            store.put("k", {"x": object()})
        assert store.get("k") is None

    def test_entries_come_by_kind_in_the_order_of_their_keys(self, store):
        for number in range(1200):
            kind = "simulator" if number % 2 else "model"
            store.put(digest(number), {"n": number}, kind)
        keys = [entry.key for entry in store.entries("simulator")]
        assert keys == sorted(digest(n) for n in range(1, 1200, 2))
        assert len(list(store.entries())) == 1200
        assert store.stats().entries == {"model": 600, "simulator": 600}
        assert store.stats().bytes > 0

    def test_an_entry_remembers_when_it_was_made(self, store):
        store.put("new", {})
        [new] = store.entries()
        assert "2024" < new.created <= datetime.now(UTC).isoformat()

    def test_threads_share_a_store(self, store):
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

    @pytest.mark.slow
    def test_eight_processes_write_at_once_and_nothing_is_lost(self, place, tmp_path):
        path = place.at
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

    def test_a_killed_writer_loses_no_answer_that_put_returned(self, place):
        path = place.at
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
    def test_a_forked_child_opens_its_own_connections(self, store):
        store.put("parent", {"n": 1})
        child = os.fork()
        if child == 0:
            store.put("child", {"n": 2})
            os._exit(0 if store.get("parent") == {"n": 1} else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert store.get("child") == {"n": 2}

    def test_a_pickled_store_opens_the_same_file(self, store):
        store.put("k", {"n": 1})
        with pickle.loads(pickle.dumps(store)) as copy:
            assert copy.get("k") == {"n": 1}

    def test_a_damaged_entry_is_never_given_out(self, place, store):
        store.put("bad", {"response": "rain"})
        store.put("good", {"response": "sun"})
        place.damage("bad", b'{"response":"snow"}')
        with pytest.raises(InfrastructureError, match=r"entry bad is damaged; .* verify POOL`"):
            store.get("bad")
        with pytest.raises(InfrastructureError, match="entry bad is damaged"):
            store.put("bad", {"response": "hail"})
        assert [(e.key, e.value) for e in store.entries()] == [
            ("bad", None),
            ("good", {"response": "sun"}),
        ]

    def test_bytes_that_are_no_text_show_as_damage(self, place, store):
        store.put("bad", {"n": 1})
        place.damage("bad", b"\xff{}")
        assert [entry.value for entry in store.entries()] == [None]

    def test_damaged_entries_can_be_discarded(self, place, store):
        store.put("bad", {"n": 1})
        store.put("good", {"n": 2})
        place.damage("bad", b"null")
        assert store.discard_damaged() == ["bad"]
        assert store.put("bad", {"n": 3}) == {"n": 3}
        assert store.get("good") == {"n": 2}

    def test_a_store_of_another_version_says_what_to_do(self, place, store):
        place.set_version(7)
        with pytest.raises(DataError, match=r"version 7, this SEAL reads version 1: read it with"):
            Store(place.at)

    def test_a_closed_store_says_so(self, store):
        store.close()
        store.close()
        with pytest.raises(InfrastructureError, match="closed"):
            store.get("k")

    def test_the_digest_of_entries_depends_on_content_alone(self, place, monkeypatch):
        digests = []
        for name, year in (("a", 2020), ("b", 2021)):
            made = SimpleNamespace(now=lambda zone, year=year: datetime(year, 1, 1, tzinfo=zone))
            monkeypatch.setattr("seal.core.store.datetime", made)
            with Store(place.beside(name)) as store:
                store.put("k1", {"n": 1, "m": 2})
                store.put("k2", {"n": 2})
                digests.append(digest_of_entries(store, ["k2", "k1", "k1"]))
        assert digests[0] == digests[1]
        with Store(place.beside("c")) as store:
            store.put("k1", {"n": 9})
            store.put("k2", {"n": 2})
            assert digest_of_entries(store, ["k1", "k2"]) != digests[0]

    def test_many_entries_are_written_at_once_and_found_in_the_order_of_their_keys(self, store):
        entries = {f"k{n}": {"n": n} for n in range(1201)}
        keys = [*entries, "none", "k7", "k7"]

        assert store.put_each(entries, "embedding") == list(entries.values())
        assert list(store.get_each(keys)) == [*entries.values(), None, {"n": 7}, {"n": 7}]
        assert store.stats().entries == {"embedding": 1201}

    def test_of_many_entries_those_that_are_stored_stay(self, store):
        store.put("b", {"n": "first"})

        assert store.put_each({"a": {"n": 1}, "b": {"n": 2}}) == [{"n": 1}, {"n": "first"}]
        assert store.put_each({}) == list(store.get_each([])) == []

    def test_many_entries_are_stored_all_or_not_at_all(self, place, store):
        with pytest.raises(ValueError):
            store.put_each({"a": {"n": 1}, "b": {"n": float("nan")}})
        place.refuse("d")
        with pytest.raises(InfrastructureError, match="full"):
            store.put_each({"c": {"n": 1}, "d": {"n": 2}})

        assert list(store.get_each(["a", "b", "c", "d"])) == [None] * 4
        assert store.put("e", {"n": 3}) == {"n": 3}

    def test_a_damaged_entry_among_many_is_told(self, place, store):
        store.put_each({"a": {"n": 1}, "b": {"n": 2}})
        place.damage("b", b"{}")
        with pytest.raises(InfrastructureError, match="entry b is damaged"):
            list(store.get_each(["a", "b"]))

    def test_simulated_answers_are_sound(self, store):
        tool = Tool("lab/weather/now", "now", returns={"city": "str"})
        for city in ("Oslo", "Rome"):
            entry = answer_entry(tool.id, {"city": city}, Response({"city": city}), "template/1")
            store.put(entry_key(entry, document_digest(tool)), entry, KIND)
        checked = verify(store, {tool.id: tool})
        assert (checked.sound, checked.checked) == (True, 2)

    def test_two_writers_of_the_same_keys_in_any_order_wait_for_no_other(self, store):
        keys = [f"k{n}" for n in range(200)]
        errors = []

        def write(worker: int) -> None:
            order = keys if worker % 2 else keys[::-1]
            try:
                for _ in range(5):
                    store.put_each({key: {"w": worker} for key in order})
            except InfrastructureError as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert store.stats().entries == {"model": 200}

    @pytest.mark.heavy
    @pytest.mark.slow
    def test_eight_processes_put_100_000_answers_and_none_is_lost(self, place, tmp_path):
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=put_many, args=(place.at, n)) for n in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(900)
            assert worker.exitcode == 0
        with Store(place.at) as store:
            assert store.stats().entries == {"simulator": 100_000}
            assert sum(entry.value is not None for entry in store.entries()) == 100_000


def test_a_file_that_is_no_store_is_named(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be read as one" * 40)
    with pytest.raises(DataError, match=r"notes.txt is no answer store"):
        Store(text)
    foreign = tmp_path / "foreign.sqlite"
    rewrite(foreign, "CREATE TABLE songs (title TEXT)")
    with pytest.raises(DataError, match="it holds other tables"):
        Store(foreign)
    for fault, change in {
        "no such table: entries": "ALTER TABLE entries RENAME TO others",
        "no such column: kind": "ALTER TABLE entries RENAME COLUMN kind TO sort",
    }.items():
        changed = tmp_path / f"{fault[-4:]}.sqlite"
        Store(changed).close()
        rewrite(changed, change)
        with pytest.raises(DataError, match=rf"no answer store: {fault}; choose another place"):
            Store(changed)


def test_a_store_that_another_process_makes_while_it_is_opened_is_ours(tmp_path, monkeypatch):
    path, connect = tmp_path / "answers.sqlite", sqlite3.connect

    def make():
        with Store(path) as store:
            store.put("key", {"x": 1}, "simulator")

    other = threading.Thread(target=make)

    class Slow(sqlite3.Connection):
        def execute(self, sql, *parameters):
            found = super().execute(sql, *parameters)
            if sql == "PRAGMA application_id" and not other.ident:
                monkeypatch.setattr(sqlite3, "connect", connect)
                other.start()
                other.join(0.5)
            return found

    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Slow))
    with Store(path) as store:
        other.join()
        assert store.get("key") == {"x": 1}


def test_a_path_that_cannot_be_opened_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be opened: File exists; give another"):
        Store(tmp_path / "file" / "answers.sqlite")
    with pytest.raises(UsageError, match="cannot be opened: unable to open"):
        Store(tmp_path)
    with pytest.raises(UsageError, match=r"cannot be opened: .*null"):
        Store("a\0b")
    with pytest.raises(UsageError, match=r"cannot be opened: .*surrogates"):
        Store("a\ud800")


def test_a_connection_that_is_lent_while_the_store_closes_is_closed_when_it_returns(tmp_path):
    table = SqliteAnswers(tmp_path / "answers.sqlite", 60)

    def closing(lent: sqlite3.Connection) -> sqlite3.Connection:
        table.close()
        lent.execute("SELECT 1")
        return lent

    lent = table._asked(closing)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lent.execute("SELECT 1")


def test_words_of_another_form_make_no_file_named_by_a_password(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_URL", "host=127.0.0.1 password = hidden-word")
    with pytest.raises(UsageError, match="expected postgresql://") as caught:
        open_store(tmp_path)
    assert "hidden-word" not in str(caught.value)
    assert not [*tmp_path.iterdir()]
