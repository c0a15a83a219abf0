"""Paths that are none are refused; files that are being written, and what killed processes left."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from looped import every_case

import seal
from seal.core import UsageError
from seal.core.files import (
    AtomicFile,
    Lock,
    cache_folder,
    check_path,
    content_of,
    in_work,
    is_held,
    no_file,
    part_of,
)

NO_PATHS = {
    "": "it is empty; give one, such as '.' for this folder",
    "a\0b": "it has a character that no path can have",
    "\ud800": "it has a character that no path can have",
    f"runs/{'x' * 300}": "a name in it has 300 bytes, and 255 are possible; shorten it",
    "é" * 128: "a name in it has 256 bytes",
    "/".join(["x" * 200] * 20): "with its folders it has more than 3,585 bytes; shorten it",
    "~/runs": "only a shell knows what ~ is; write /",
}


@pytest.mark.parametrize("path", NO_PATHS, ids=range(len(NO_PATHS)))
def test_what_can_be_no_path_is_refused_with_the_reason(path: str) -> None:
    with pytest.raises(UsageError, match=f"out: .* is no path: {NO_PATHS[path]}"):
        check_path("out", path)


@pytest.mark.parametrize("path", [".", "/", "runs/é", "x" * 255, "\udc80", Path("a b")])
def test_what_can_be_a_path_is_taken(path: str | Path) -> None:
    check_path("out", path)


VERBS: list[Callable[[str], object]] = [
    lambda path: seal.run("sample", limit=1, out=path),
    lambda path: seal.run("sample", limit=1, cache_dir=path),
    lambda path: seal.sweep("sample", limit=1, out=path),
    lambda path: seal.ablate("react", "sample", limit=1, out=path),
    lambda path: seal.retrieve("sample", out=path),
    lambda path: seal.retrieve(["sample", path]),
    lambda path: seal.augment("sample", "names", path),
    lambda path: seal.import_benchmark("apigen", "upstream", path),
    lambda path: seal.Benchmark("b").save(path),
    lambda path: seal.plan_run("sample", prices=path),
    seal.lint,
    seal.explain,
    seal.report,
    seal.frames,
    seal.Run.load,
]


@every_case("verb", VERBS)
@every_case("path", NO_PATHS, ids=range(len(NO_PATHS)))
def test_every_verb_refuses_such_a_path_before_it_does_anything(
    verb: Callable[[str], object], path: str
) -> None:
    with pytest.raises(UsageError, match="is no path: "):
        verb(path)


def left_by_a_killed_process(path: Path) -> Path:
    """Write a file or folder as a process does that is killed meanwhile; return what is left."""
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from seal.core.files import part_of\n"
        "part = part_of(Path(sys.argv[1])); part.mkdir(); print(part, flush=True)\n"
        "(part / 'torn').write_text('{'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    return Path(done.stdout.strip())


def test_who_writes_again_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    left = left_by_a_killed_process(tmp_path / "a.json")
    other = left_by_a_killed_process(tmp_path / "b.json")
    assert (left / "torn").is_file()
    with AtomicFile(tmp_path / "a.json") as file:
        file.write(b"{}")
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", other.name}


def test_what_another_machine_writes_stays(tmp_path: Path) -> None:
    left = left_by_a_killed_process(tmp_path / "a.json")  # its process is unknown here
    with in_work(left), AtomicFile(tmp_path / "a.json") as file:
        file.write(b"{}")
    assert left.is_dir()


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    with AtomicFile(tmp_path / "a.json") as first:
        first.write(b"1")
        with AtomicFile(tmp_path / "b.json") as second:
            second.write(b"2")
        part_of(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_bytes() == b"1"


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for a small disk."""
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from seal.core.files import AtomicFile, append_line, close_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "path = Path('lines')\n"
        "file = path.open('ab')\n"
        "for write in (lambda: append_line(file, b'x' * 200), lambda: close_file(file)):\n"
        "    try: write()\n"
        "    except OSError as error: print(error.filename)\n"
        "try:\n"
        "    with AtomicFile(Path('whole')) as out: out.write(b'x' * 200)\n"
        "except OSError as error: print(error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.split() == ["lines", "lines", "whole"], done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"lines"}


def test_a_user_without_a_home_is_told_to_name_a_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "SEAL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)

    def unknown(number: int) -> NoReturn:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)  # as for the user of many a container
    with pytest.raises(UsageError, match=r"no cache folder: .*; or set SEAL_CACHE_DIR"):
        cache_folder()


def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe's writer is never waited for, and a device has no end."""
    pipe, device, link = tmp_path / "pipe", Path("/dev/zero"), tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(device)
    for path, kind in ((pipe, "a pipe"), (device, "a device"), (link, "a device")):
        with pytest.raises(OSError, match=f"it is {kind}, and no file") as refused:
            content_of(path)
        assert refused.value.filename == str(path)
        assert no_file(path).startswith(f"{path} is {kind}, and no file")
    with pytest.raises(IsADirectoryError):
        content_of(tmp_path)
    assert no_file(tmp_path / "none") == f"no file {tmp_path / 'none'}"


def test_a_pipe_in_the_place_of_a_lock_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    assert not is_held(tmp_path)
    with (
        pytest.raises(UsageError, match=r"\.lock is a pipe, and no file; remove it"),
        Lock(tmp_path),
    ):
        pass


def test_a_folder_that_this_process_writes_into_is_not_said_to_be_anothers(tmp_path: Path) -> None:
    with Lock(tmp_path), pytest.raises(UsageError, match=r"^this process"), Lock(tmp_path):
        pass
