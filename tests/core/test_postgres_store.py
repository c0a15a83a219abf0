"""What a shared store does when its server, its address or its database is not as it should be."""

import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import psycopg
import psycopg_pool
import pytest
from postgres_server import PASSWORD, postgres_server, programs

from seal.core import DataError, InfrastructureError, UsageError
from seal.core.store import Store, open_store

pytestmark = pytest.mark.slow
NOBODY = "postgresql://me:hidden-word@127.0.0.1:9/answers"


def test_a_server_that_is_not_there_is_named_without_the_password():
    with pytest.raises(InfrastructureError) as caught:
        Store(NOBODY)
    told = "".join(traceback.format_exception(caught.value))
    assert "postgresql://me@127.0.0.1:9/answers cannot be opened" in told
    assert "refused" in told
    assert "hidden-word" not in told


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hidden-word%zz@h/a",
        "mysql://me:hidden-word@h/a",
        "postgresql://me:hidden-word/b@h/a",
        "postgresql://me:9/hidden-word@h/a",
        "postgresql://me:se?hidden-word/b@h",
        "postgresql://me:p@hidden-word@h/a",
    ],
)
def test_an_address_that_cannot_be_is_a_usage_error_without_the_password(url):
    with pytest.raises(
        UsageError, match=r"expected\s+postgresql://USER@HOST:PORT/DATABASE"
    ) as caught:
        Store(url)
    assert "hidden-word" not in "".join(traceback.format_exception(caught.value))


def test_a_url_may_name_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SEAL_CACHE_URL", f"sqlite:///{tmp_path / 'mine.sqlite'}")
    with open_store(tmp_path) as store:
        store.put("k", {"n": 1})
    assert (tmp_path / "mine.sqlite").is_file()
    monkeypatch.setenv("SEAL_CACHE_URL", NOBODY)
    with pytest.raises(InfrastructureError, match="cannot be opened"):
        open_store(tmp_path)


def test_an_address_without_a_password_says_how_to_give_it(postgres, tmp_path, monkeypatch):
    with psycopg.connect(postgres.url()) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS alike")
    url = postgres.url("alike")
    bare = url.replace(f":{PASSWORD}", "")
    monkeypatch.setenv("SEAL_CACHE_URL", url)
    with open_store(tmp_path) as store:
        assert store.location == bare
    monkeypatch.setenv("SEAL_CACHE_URL", bare)
    with pytest.raises(InfrastructureError, match=r"no password supplied; .* by PGPASSWORD"):
        open_store(tmp_path)


def test_a_wrong_password_is_told_and_not_shown(postgres):
    with pytest.raises(InfrastructureError, match="password authentication failed") as caught:
        Store(postgres.url(password="hidden-word"))
    assert "hidden-word" not in str(caught.value)


def test_a_table_of_something_else_is_left_alone(postgres):
    with psycopg.connect(postgres.url()) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS songs")
        connection.execute("CREATE TABLE IF NOT EXISTS songs.seal_answers (title text)")
    with pytest.raises(DataError, match="its table seal_answers is of something else"):
        Store(postgres.url("songs"))


def test_a_user_who_may_make_no_table_is_told_so(postgres):
    with psycopg.connect(postgres.url()) as connection:
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'guest-word'")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    url = postgres.url(password="guest-word").replace("//seal:", "//guest:")
    with pytest.raises(UsageError, match="let the user make a table there"):
        Store(url)


def test_a_request_that_breaks_two_connections_is_an_outage_and_no_error_of_ours(postgres):
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS fuse")
    url = postgres.url("fuse")
    with Store(url) as store:
        with psycopg.connect(url) as connection:
            connection.execute(
                "CREATE FUNCTION blown() RETURNS trigger LANGUAGE plpgsql AS "
                "$$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END$$"
            )
            connection.execute(
                "CREATE TRIGGER fuse BEFORE INSERT ON seal_answers EXECUTE FUNCTION blown()"
            )
        with pytest.raises(InfrastructureError, match="two connections in a row broke") as caught:
            store.put("k", {"n": 1})
        assert PASSWORD not in "".join(traceback.format_exception(caught.value))
        assert store.outage == str(caught.value)
        assert store.get("k") is None
        assert store.outage == ""


def test_a_pool_that_opens_slowly_is_not_seen_by_another_thread_before(postgres, monkeypatch):
    opened = psycopg_pool.ConnectionPool.open

    def slowly(pool, *given, **named):
        time.sleep(0.2)
        opened(pool, *given, **named)

    monkeypatch.setattr(psycopg_pool.ConnectionPool, "open", slowly)
    with Store(postgres.url()) as store, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(store.get, "abcd")) == [None] * 4


def until_it_answers(store, key):
    for _ in range(20):
        try:
            return store.get(key)
        except InfrastructureError:
            continue
    return store.get(key)


@pytest.mark.skipif(programs() is None, reason="no PostgreSQL server is installed")
def test_a_store_waits_for_a_server_that_comes_back_and_tells_of_one_that_does_not():
    with postgres_server() as server:  # noqa: SIM117 - what holds of it ends first
        with Store(server.url(), 20) as patient, Store(server.url(), 1) as impatient:
            patient.put("k", {"n": 1})
            assert impatient.get("k") == {"n": 1}
            server.stop()
            with pytest.raises(InfrastructureError, match=r"no connection .* for 1 s") as caught:
                impatient.get("k")
            assert PASSWORD not in str(caught.value)
            assert impatient.outage == str(caught.value)
            server.start()
            assert patient.get("k") == {"n": 1}
            assert until_it_answers(impatient, "k") == {"n": 1}
            assert impatient.outage == ""


@pytest.mark.parametrize("host", ["a" * 70, "a..b", "\u202ea.de"])
def test_a_host_that_no_network_can_have_is_named(host):
    with pytest.raises(InfrastructureError, match=r"cannot be opened: .* another SEAL_CACHE_URL"):
        Store(f"postgresql://me@{host}/answers")
