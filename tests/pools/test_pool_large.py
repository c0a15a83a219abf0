"""Tools of a large pool are read one by one, when they are asked for."""

import pytest

import seal
from seal.core import DataError, Goal, Pool, Query, Task, Tool, write_records
from seal.pools import pool as pools
from seal.retrievers import base, kept
from seal.retrievers.build import build_retriever, rank

RETRIEVERS = ["bm25", "tfidf,siblings=0.5", "oracle", "random", "tfidf,tokens=300"]


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """The cache, and few tools that are taken for many."""
    monkeypatch.setattr(pools, "_LARGE", 1)
    monkeypatch.setattr(kept, "_LEAST", 1)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path):
    """A pool of 60 tools, not in the order of their ids."""
    ids = [f"shop/t{n % 7}/api ü{n}" for n in reversed(range(60))]
    tools = [Tool(one, one[-2:], f"Looks {one[-2:]} up, for {len(one)} users.") for one in ids]
    goals = [Goal(f"Look {one[-2:]} up.", relevant=(one,)) for one in ids[::9]]
    write_records(tmp_path / "pool/tools.jsonl", tools)
    tasks = [Task(f"q{n}", "shop", (goal,)) for n, goal in enumerate(goals)]
    write_records(tmp_path / "pool/tasks.jsonl", tasks)
    return tmp_path / "pool"


@pytest.fixture
def read(monkeypatch):
    """Grows by the id of each tool that is read."""
    found = []
    decode = pools.decode

    def counted(line, kind):
        tool = decode(line, kind)
        found.append(tool.id)
        return tool

    monkeypatch.setattr(pools, "decode", counted)
    return found


def figures(found):
    names = ("recall@5", "mrr@5", "tokens@5")
    return [[result[name].mean for name in names] for result in found.results]


def refuse(*_):
    raise AssertionError("read again")


def test_another_start_reads_the_tools_that_were_found_alone(folder, cache, read, monkeypatch):
    whole = figures(seal.retrieve(folder, RETRIEVERS, k=5, cache="off"))
    assert not (cache / "indexes").exists()
    assert not read
    assert figures(seal.retrieve(folder, RETRIEVERS, k=5)) == whole

    monkeypatch.setattr(pools, "_lines_of_tools", refuse)
    monkeypatch.setattr(base, "documents", refuse)
    read.clear()
    assert figures(seal.retrieve(folder, RETRIEVERS[:2], k=5)) == whole[:2]
    assert len(read) <= 2 * 7 * 5


def test_a_template_of_other_code_makes_other_texts(folder, cache, monkeypatch):
    seal.retrieve(folder, "bm25", k=5)
    before = len(list((cache / "indexes").glob("*.arrays")))

    monkeypatch.setattr(base, "_code", lambda: "another version")
    seal.retrieve(folder, "bm25", k=5)

    assert len(list((cache / "indexes").glob("*.arrays"))) == before + 1


def test_a_template_of_the_user_is_asked_each_time(folder):
    def found(template):
        return figures(seal.retrieve(folder, "bm25", k=5, options={"template": template}))

    right = found(lambda tool: tool.description)
    assert found(lambda tool: "the same") != right
    assert found(lambda tool: tool.description) == right


def test_a_changed_pool_is_noticed(folder):
    before = figures(seal.retrieve(folder, "bm25", k=5))
    file = folder / "tools.jsonl"
    file.write_bytes(file.read_bytes().replace(b"Looks", b"Finds").replace(b" up,", b" it,"))

    changed = figures(seal.retrieve(folder, "bm25", k=5))

    assert changed == figures(seal.retrieve(folder, "bm25", k=5, cache="off"))
    assert changed != before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"schema":"tool/1","id":"a","name":1}', "line 61: .*name"),
        (b'{"schema":"tool/1","id":"shop/t0/api \xc3\xbc0","name":"a"}', "stands twice"),
        (b"{", "line 61: not JSON"),
    ],
)
def test_a_bad_line_is_told_and_nothing_is_kept(folder, cache, line, words):
    with (folder / "tools.jsonl").open("ab") as file:
        file.write(line)

    with pytest.raises(DataError, match=words):
        seal.retrieve(folder, "bm25")
    assert not list((cache / "indexes").glob("*.arrays"))


def test_tools_stand_in_the_order_of_ids_as_the_file_has_them(folder, cache):
    (folder / "tools.jsonl").write_bytes(b"\n\n" + (folder / "tools.jsonl").read_bytes().strip())
    whole = sorted(pools.load_pool(folder).tools(), key=lambda tool: tool.id)

    for _ in range(2):
        listed = pools.load_pool(folder).listed(cache)
        assert list(listed) == whole
        assert (listed[-1], listed[3:5], len(listed)) == (whole[-1], whole[3:5], 60)


def test_a_file_that_changes_while_it_is_read_is_told(folder, cache):
    file = folder / "tools.jsonl"
    listed = pools.load_pool(folder).listed(cache)
    content = file.read_bytes()
    with file.open("r+b") as opened:
        opened.write(content[:200].replace(b"shop", b"shup") + content[200:])
    changed = content.splitlines()[0]
    place = next(n for n, one in enumerate(listed.ids) if one.encode() in changed)

    with pytest.raises(DataError, match="was changed while it was read"):
        listed[place]


def test_a_retriever_of_the_user_gets_the_same_tools(folder, cache):
    class Longest:
        def __init__(self, pool):
            self.ranked = sorted(pool.tools, key=lambda tool: (-len(tool.description), tool.id))

        def retrieve(self, queries, k):
            return [[(tool.id, 1 / (n + 1)) for n, tool in enumerate(self.ranked[:k])]] * len(
                queries
            )

    whole, listed = pools.load_pool(folder).tools(), pools.load_pool(folder).listed(cache)
    asked = [Query("a")]
    rows = [rank(build_retriever(Longest, Pool(tools)), asked, 5) for tools in (whole, listed)]
    assert rows[0] == rows[1]
