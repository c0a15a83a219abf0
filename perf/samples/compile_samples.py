"""The samples of desks, phone, similar tools, dialogues and missions, of what was written.

    python perf/samples/compile_samples.py SAMPLE AUTHORED OUT

SAMPLE is apps, phone, toolscan-sample, dialogtool-sample or mmtb-sample. AUTHORED is the folder
`authored` of the sample; of phone, that of toolsandbox-sample. OUT becomes a pool; what ships lies
beside AUTHORED, of phone in `phone/sample`, and is equal to it byte for byte. The tasks of apps and
phone are packed.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apps_sample
import dialogtool_sample
import mmtb_sample
import phone_sample
import toolscan_sample

from seal.core.files import PACKED
from seal.pools.importer import TASKS
from seal.pools.imports import ImportReport, write_pool

COMPILERS: Mapping[str, Any] = {
    "apps": apps_sample.import_sample,
    "phone": phone_sample.import_sample,
    "toolscan-sample": toolscan_sample.import_sample,
    "dialogtool-sample": dialogtool_sample.import_sample,
    "mmtb-sample": mmtb_sample.import_sample,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Compile a sample, and print how many tools and tasks it has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sample", choices=sorted(COMPILERS))
    parser.add_argument("authored", type=Path, metavar="AUTHORED")
    parser.add_argument("out", type=Path, metavar="OUT")
    asked = parser.parse_args(argv)
    report = compiled(asked.sample, asked.authored, asked.out)
    print(f"{report.tools} tools and {report.tasks} tasks in {asked.out}")
    return 0


def compiled(sample: str, authored: Path, out: Path) -> ImportReport:
    """Write the pool of a sample and return the report that stands beside it.

    Args:
        sample: Its name.
        authored: Folder of what was written.
        out: Folder to make.

    Raises:
        DataError: A file is missing or malformed, or something in it does not hold.
    """
    report = write_pool(sample, COMPILERS[sample], authored, out)
    if sample in (apps_sample.NAME, phone_sample.NAME):
        plain = out / TASKS
        plain.with_name(TASKS + PACKED).write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        plain.unlink()
    return report


if __name__ == "__main__":
    sys.exit(main())
