import json
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seal.core import DataError, Response, Tool, UsageError
from seal.core.store import Store
from seal.pools.imports import import_answers
from seal.simulator_cache.answer_cache import KIND, Cached, answer_entry
from seal.simulator_cache.exchange import export_entries, import_entries, merge

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TOOL = Tool("lab/weather/now", "now_for_weather")
KEY = "a" * 64


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def line(**changes) -> str:
    fields = {
        "key": KEY,
        "tool": TOOL.id,
        "arguments": {"city": "Oslo"},
        "response": "cold",
        "error": "",
        "simulator": "template/1",
        "prompt_version": "",
        "seed": 0,
        "created": "2024-01-01T00:00:00+00:00",
    }
    return json.dumps({k: v for k, v in {**fields, **changes}.items() if v is not ...})


@given(
    entries=st.dictionaries(
        st.text("0123456789abcdef", min_size=64, max_size=64),
        st.tuples(st.dictionaries(st.text(), JSON, max_size=3), JSON, st.text()),
        max_size=6,
    )
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12, deadline=None
)
def test_exported_entries_come_back_as_they_were(tmp_path_factory, entries):
    folder = tmp_path_factory.mktemp("exchange")
    with Store(folder / "a") as first, Store(folder / "b") as second:
        for key, (arguments, response, error) in entries.items():
            value = answer_entry("lab/t/a", arguments, Response(response, error), "s", "v", 3)
            first.put(key, value, KIND)
        assert export_entries(first, folder / "a.jsonl").exported == len(entries)
        assert import_entries(second, folder / "a.jsonl").imported == len(entries)
        assert list(second.entries()) == list(first.entries())
        export_entries(second, folder / "b.jsonl")
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()


def test_a_line_has_the_nine_fields_and_lines_are_sorted_by_key(store, tmp_path):
    class Echo:
        identity = "echo/1"

        def respond(self, tool, arguments):
            return Response(arguments)

    cached = Cached(Echo(), store)
    for number in range(5):
        cached.respond(TOOL, {"n": number})
    store.put("0" * 64, {"content": "hello"}, "model")
    export_entries(store, tmp_path / "out.jsonl")
    lines = [json.loads(text) for text in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert list(lines[0]) == [
        *("key", "tool", "arguments", "response", "error", "simulator"),
        *("prompt_version", "seed", "created"),
    ]
    assert [fields["key"] for fields in lines] == sorted(fields["key"] for fields in lines)
    assert len(lines) == 5


def test_malformed_lines_are_counted_by_reason_and_the_rest_is_imported(store, tmp_path):
    lines = [
        line(),
        "{broken",
        "[1]",
        line(key="short"),
        line(tool=...),
        line(arguments=[1]),
        line(created=5),
        '{"key": NaN}',
        "",
        line(key="b" * 64),
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    report = import_entries(store, tmp_path / "in.jsonl")
    assert report.imported == 2
    assert report.to_plain()["rejected"] == {
        "field arguments": 1,
        "field created": 1,
        "field tool": 1,
        "no key of 64 hexadecimal digits": 1,
        "no object": 1,
        "not JSON": 2,
    }
    assert report.places[0].endswith("in.jsonl, line 2: not JSON")


@pytest.mark.parametrize("response", ["1e999", "[" * 100_000 + "]" * 100_000])
def test_what_no_store_can_hold_is_counted_and_the_rest_is_imported(store, tmp_path, response):
    lines = [line(response="hostile").replace('"hostile"', response), line(key="b" * 64)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    report = import_entries(store, tmp_path / "in.jsonl")
    assert (report.imported, dict(report.rejected)) == (1, {"not JSON": 1})


def test_halves_of_surrogate_pairs_are_counted_and_the_rest_is_imported(store, tmp_path):
    fields = ("key", "tool", "response", "error", "simulator", "prompt_version", "created")
    lines = [line(**{"key": f"{n}" * 64, name: "\ud800"}) for n, name in enumerate(fields)]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines, line()]))
    report = import_entries(store, tmp_path / "in.jsonl")
    assert report.rejected["field created"] == 1
    assert report.imported + sum(report.rejected.values()) == len(lines) + 1


def test_an_entry_that_is_stored_already_stays_as_it_is(store, tmp_path):
    (tmp_path / "in.jsonl").write_text(line())
    import_entries(store, tmp_path / "in.jsonl")
    assert import_entries(store, tmp_path / "in.jsonl").known == 1
    (tmp_path / "in.jsonl").write_text(line(response="hot"))
    assert import_entries(store, tmp_path / "in.jsonl").conflicts == 1
    assert store.get(KEY)["response"] == "cold"


def test_when_an_entry_was_made_survives_but_is_not_part_of_it(store, tmp_path):
    (tmp_path / "in.jsonl").write_text(line())
    import_entries(store, tmp_path / "in.jsonl")
    (entry,) = store.entries()
    assert entry.created == "2024-01-01T00:00:00+00:00"
    assert "created" not in entry.value


def test_damaged_entries_are_not_exported(store, tmp_path):
    (tmp_path / "in.jsonl").write_text(line() + "\n" + line(key="b" * 64))
    import_entries(store, tmp_path / "in.jsonl")
    connection = sqlite3.connect(store.location)
    connection.execute("UPDATE entries SET value = '{}' WHERE key = ?", (KEY,))
    connection.commit()
    connection.close()
    report = export_entries(store, tmp_path / "out.jsonl")
    assert (report.exported, report.damaged) == (1, 1)


def test_stores_are_merged_and_the_first_answer_stays(store, tmp_path):
    store.put("k1", {"content": "here"}, "model")
    with Store(tmp_path / "other.sqlite") as other:
        other.put("k1", {"content": "there"}, "model")
        other.put("k2", {"content": "new"}, "model", "2020-01-01")
        other.put("k3", {"content": "bad"}, "model")
    connection = sqlite3.connect(tmp_path / "other.sqlite")
    connection.execute("UPDATE entries SET checksum = '' WHERE key = 'k3'")
    connection.commit()
    connection.close()
    report = merge(store, [tmp_path / "other.sqlite"])
    assert (report.imported, report.known, report.conflicts) == (1, 0, 1)
    assert report.rejected == {"damaged": 1}
    assert store.get("k1") == {"content": "here"}
    assert [e.created for e in store.entries() if e.key == "k2"] == ["2020-01-01"]
    assert merge(store, [tmp_path / "other.sqlite"]).known == 1


def test_a_source_that_is_not_there_is_named(store, tmp_path):
    with pytest.raises(DataError, match=r"no file or folder .*nowhere"):
        import_entries(store, tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"no store .*nowhere"):
        merge(store, [tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"has no .jsonl file"):
        import_entries(store, tmp_path / "empty")
    with pytest.raises(UsageError, match="'zip'; known: seal, stabletoolbench, toolbench"):
        import_answers(store, tmp_path, "zip")
    with pytest.raises(UsageError, match="--pool DIR"):
        import_answers(store, tmp_path, "toolbench")
