"""Downloads from a real server: whole and pinned, or not at all."""

import hashlib
import os
import re
import socket
from pathlib import Path

import pytest
from servers import Answer, ModelServer, Received

from seal.core import DataError, InfrastructureError, UnknownNameError, UsageError
from seal.pools import catalogue as fetching
from seal.pools.catalogue import Card, PinnedFile, catalogue, fetch, pinned_files

FETCHABLE = [entry for entry in catalogue().values() if entry.files]
CONTENT = {
    "repo/a.json": b'{"a": 1}',
    "repo/deep/b & c.json": b"[2]",
    "repo/other/place.csv": b"x,y\n" * 40_000,
}
FILES = [
    PinnedFile("a.json", hashlib.sha256(CONTENT["repo/a.json"]).hexdigest(), "a.json"),
    PinnedFile(
        "deep/b & c.json",
        hashlib.sha256(CONTENT["repo/deep/b & c.json"]).hexdigest(),
        "deep/b & c.json",
    ),
    PinnedFile(
        "here.csv",
        hashlib.sha256(CONTENT["repo/other/place.csv"]).hexdigest(),
        "other/place.csv",
    ),
]


@pytest.fixture(autouse=True)
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Card:
    """A benchmark of three small files in the place of AnyToolBench's list."""
    entry = Card("small", "Small", "", (), "", "ask its authors", prefix="repo/", files="small")
    monkeypatch.setattr(fetching, "find_entry", lambda name: entry)
    monkeypatch.setattr(fetching, "pinned_files", lambda entry: FILES)
    return entry


def whole(request: Received) -> Answer:
    from urllib.parse import unquote

    path = unquote(request.path).lstrip("/")
    return Answer(CONTENT[path], headers={}) if path in CONTENT else Answer(b"gone", 404)


def left(out: Path) -> set[str]:
    return {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}


def test_files_come_whole_under_their_own_paths(tmp_path: Path) -> None:
    told = []
    with ModelServer(whole) as server:
        report = fetch("small", tmp_path, server.root, lambda *seen: told.append(seen))

    assert left(tmp_path) == {"a.json", "deep/b & c.json", "here.csv"}
    assert (tmp_path / "here.csv").read_bytes() == CONTENT["repo/other/place.csv"]
    assert (report.fetched, report.present, report.note) == (3, 0, "ask its authors")
    assert told == [("fetch", n, 3) for n in (1, 2, 3)]


def test_what_is_there_is_not_asked_for_again(tmp_path: Path) -> None:
    with ModelServer(whole) as server:
        fetch("small", tmp_path, server.root)
        (tmp_path / "a.json").unlink()
        again = fetch("small", tmp_path, server.root)

    assert (again.fetched, again.present) == (1, 2)
    assert len(server.received) == 4


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (Answer(b"other"), DataError, "is not the file that was pinned"),
        (Answer(b"gone", 404), InfrastructureError, "the server answered 404"),
        (Answer(b"busy", 503), InfrastructureError, "the server answered 503"),
        (Answer(CONTENT["repo/other/place.csv"], cut="half"), InfrastructureError, "no answer"),
        (Answer(cut="nothing"), InfrastructureError, "no answer"),
    ],
    ids=["changed", "missing", "busy", "cut", "closed"],
)
def test_a_failure_leaves_what_came_and_nothing_half_written(
    tmp_path: Path, answer: Answer, error: type[Exception], says: str
) -> None:
    def script(request: Received) -> Answer:
        return answer if request.path.endswith("place.csv") else whole(request)

    with ModelServer(script) as server:
        with pytest.raises(error, match=rf"{says}.*; 2 of 3 files stay in"):
            fetch("small", tmp_path, server.root)
        assert left(tmp_path) == {"a.json", "deep/b & c.json"}

    with ModelServer(whole) as server:
        assert fetch("small", tmp_path, server.root).fetched == 1


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"

        with pytest.raises(InfrastructureError, match="ConnectionError"):
            fetch("small", tmp_path / "data" / "small", address)
    assert list(tmp_path.iterdir()) == []


def test_empty_folders_of_ones_own_stay(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()

    with ModelServer(lambda _: Answer(b"gone", 404)) as server, pytest.raises(InfrastructureError):
        fetch("small", own, server.root)
    assert list(tmp_path.iterdir()) == [own]


def test_a_file_of_ones_own_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("mine")

    with ModelServer(whole) as server, pytest.raises(DataError, match="with another content"):
        fetch("small", tmp_path, server.root)
    assert (tmp_path / "a.json").read_text() == "mine"
    assert server.received == []


def test_a_folder_that_cannot_be_written_is_told_with_the_repair(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")

    with ModelServer(whole) as server, pytest.raises(UsageError, match="choose a folder"):
        fetch("small", tmp_path / "taken" / "below", server.root)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told_with_the_repair(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with ModelServer(whole) as server, pytest.raises(UsageError, match="choose a folder"):
        fetch("small", tmp_path, server.root)


def test_without_a_recorded_commit_only_a_mirror_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not downloaded: ask its authors"):
        fetch("small", tmp_path)


def test_a_mirror_is_an_address(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="begins with http"):
        fetch("small", tmp_path, "ftp://example.com")


@pytest.mark.parametrize("entry", FETCHABLE, ids=lambda entry: entry.name)
def test_lists_of_files_are_sound(entry: Card) -> None:
    listed = pinned_files(entry)
    paths = [file.path for file in listed]

    assert entry.repository
    assert paths == sorted(set(paths))
    assert all(re.fullmatch(r"[0-9a-f]{64}", file.sha256) for file in listed)
    for path in (*paths, *(file.upstream for file in listed)):
        assert ".." not in path.split("/")
        assert not path.startswith("/")


@pytest.mark.parametrize("entry", FETCHABLE, ids=lambda entry: entry.name)
def test_real_files_are_those_that_are_pinned(seal_data: Path, entry: Card) -> None:
    folder = seal_data / str(entry.folder)
    if not folder.is_dir():
        pytest.skip(f"no files at {folder}")

    assert all(fetching._is_present(folder, file) for file in pinned_files(entry))


def test_an_unknown_benchmark_names_the_closest(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    with pytest.raises(UnknownNameError, match="Did you mean 'metatool'"):
        fetch("metatol", tmp_path)


def test_gated_data_say_where_they_are(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    with pytest.raises(UsageError, match=r"huggingface\.co/datasets/Salesforce/xlam.*log in"):
        fetch("apigen", tmp_path)
