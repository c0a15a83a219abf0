"""The table that a person goes through: refusals and wordings are taken, whatever it holds."""

import csv
from pathlib import Path

import orjson
import pytest
from query_pools import write_pool
from query_writer import QueryWriter

import seal
from seal.api.benchmarks import load_pool
from seal.core import DataError


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a pool of boats, queries of it, and their review."""
    write_pool(tmp_path / "boats", 2)
    generate(tmp_path)
    return tmp_path


def generate(folder: Path):
    settings = {"per_seed": 2, "kinds": ("paraphrase", "irrelevance"), "model": QueryWriter()}
    review = folder / "review.csv"
    return seal.generate("queries", folder / "boats", folder / "pool", review=review, **settings)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "review.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, table: list[dict[str, str]]) -> None:
    with (folder / "review.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


def texts(folder: Path) -> dict[str, str]:
    return {task.id: task.goals[0].text for task in load_pool(folder / "pool").tasks()}


def generated(folder: Path) -> dict[str, str]:
    """Return the texts of the pool but for the seeds, which nobody needs to review."""
    seeds = {f"t{number}" for number in range(2)}
    return {name: text for name, text in texts(folder).items() if name not in seeds}


def rejected(folder: Path) -> dict[str, dict[str, str]]:
    lines = (folder / "pool/rejected.jsonl").read_bytes().splitlines()
    found = [orjson.loads(line) for line in lines]
    return {one["id"]: one for one in found if one["filter"] == "review"}


def test_every_query_is_put_before_a_person(made):
    table = rows(made)
    assert list(table[0]) == ["id", "kind", "seed", "text", "calls", "accept", "note"]
    assert {row["id"]: row["text"] for row in table} == generated(made)
    assert {row["accept"] for row in table} == {"yes"}
    assert table[0]["calls"].startswith('find_sailings({"port":"Velin"')
    assert table[-1]["calls"] == "none"


def test_refused_queries_leave_the_pool_and_stay_in_the_table(made):
    table = rows(made)
    table[0] |= {"accept": "No", "note": "clumsy"}
    write(made, table)
    generate(made)
    assert table[0]["id"] not in texts(made)
    assert rejected(made)[table[0]["id"]]["detail"] == "clumsy"
    assert rows(made)[0] == table[0] | {"accept": "no"}
    assert len(rows(made)) == len(table)


def test_edited_wordings_are_taken_where_the_filters_let_them_pass(made):
    table = rows(made)
    good = "I have 3 cars. On 10 July 2026, at what time is the 2 o'clock ferry gone from Velin?"
    table[0]["text"], table[1]["text"] = good, "When does the ferry leave?"
    write(made, table)
    generate(made)
    assert texts(made)[table[0]["id"]] == good
    assert rejected(made)[table[1]["id"]]["reason"] == "edited_value_not_stated"
    assert rows(made)[1]["text"] == "When does the ferry leave?"


def test_an_edited_wording_like_another_query_is_refused(made):
    table = rows(made)
    table[0]["text"] = table[1]["text"]
    write(made, table)
    generate(made)
    assert rejected(made)[table[0]["id"]]["reason"] == "edited_of_a_query"


def test_missing_rows_are_accepted(made):
    before = texts(made)
    write(made, rows(made)[:1])
    generate(made)
    assert texts(made) == before


def test_no_cell_is_a_formula(made):
    table = rows(made)
    table[0]["note"] = '=HYPERLINK("http://example.com")'
    write(made, table)
    for _ in range(2):
        generate(made)
        assert rows(made)[0]["note"] == "'" + table[0]["note"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no column id, text, accept; expected a first row id,kind"),
        (b"\xff\xfe\x00", "it holds null bytes; it looks like UTF-16: save it as UTF-8"),
        (b'id,text,accept\n"a', "review.csv, line 2: a quote is never closed"),
        (b"id text accept\na b yes\n", "no column id, text, accept; expected a first row id,kind"),
        (b"id;text;accept\na;b;yes\n", "1 row about queries that are not made"),
        (b"id,text,accept\nnone,b,yes\n", "1 row about queries that are not made"),
        (b"id,text,accept\nx,b,perhaps\n", "line 2: accept: expected yes or no, got 'perhaps'"),
        (b"id,text,accept\nx\n", "line 2: malformed: expected 3 fields"),
        (b"id,text,accept\nx,b,yes\nx,b,yes\n", "line 3: the query 'x' stands twice"),
        (
            b"id,text,accept\nx," + b"b" * 16_777_217 + b",yes\n",
            "line 2: a quote is never closed, or a field has more",
        ),
    ],
)
def test_a_hostile_table_is_refused_and_nothing_is_lost(made, content, told):
    before = texts(made)
    (made / "review.csv").write_bytes(content)
    with pytest.raises(DataError, match=told):
        generate(made)
    assert (made / "review.csv").read_bytes() == content
    assert texts(made) == before
