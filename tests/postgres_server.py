"""A PostgreSQL server of the tests' own, from the programs that this machine has."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

USER = "seal"
PASSWORD = "lamp-oil-and-9-owls"


def programs() -> Path | None:
    """Return the folder of `initdb` and `postgres`; None where they are not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: p.parts[-3])
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).resolve().parent if named else None


class PostgresServer:
    """A running server, which asks for the password of its one user.

    Args:
        folder: Of its data and its socket; short, for a socket's path has at most 107 bytes.
        quick: Leave out what guards against a power cut.
    """

    def __init__(self, folder: Path, quick: bool) -> None:
        self._quick = quick
        bin_folder = programs()
        assert bin_folder is not None
        self._bin = bin_folder
        self._folder = folder
        # The server refuses to be run by root.
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        word = folder / "password"
        word.write_text(PASSWORD)
        word.chmod(0o644)
        initdb = [self._bin / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", word]
        self._run(*initdb, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync")

    def _run(self, *command: object) -> None:
        subprocess.run(
            list(map(str, command)), check=True, capture_output=True, cwd="/", user=self._user
        )

    def start(self) -> None:
        """Start it and wait until it takes requests."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self._folder}'"
        # Without fsync a crash of the server loses nothing, only one of the machine does.
        options += " -c fsync=off" * self._quick
        self._control("-l", self._folder / "log", "-o", options, "start")

    def stop(self) -> None:
        """End it at once, as a crash does; what was committed stays."""
        self._control("-m", "immediate", "stop")

    def _control(self, *words: object) -> None:
        self._run(self._bin / "pg_ctl", "-D", self._folder / "data", "-w", *words)

    def url(self, schema: str = "public", password: str = PASSWORD) -> str:
        """Return the address of a place for one store."""
        at = f"postgresql://{USER}:{password}@/postgres?host={quote(str(self._folder), '')}"
        return at if schema == "public" else f"{at}&options=-csearch_path%3D{schema}"


@contextmanager
def postgres_server(quick: bool = True) -> Iterator[PostgresServer]:
    """Run a server meanwhile."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pg-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder), quick)
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):  # it does not run
                server.stop()
