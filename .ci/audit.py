"""Hold the locked versions against the database of known vulnerabilities of PyPI.

    python .ci/audit.py PIP_AUDIT LOCK

Exits with 1 where a version has a known vulnerability. Where the database cannot be asked for any
of them, as behind a mirror that has only files, it says so: nothing was found out then.
"""

import json
import subprocess
import sys


def main(pip_audit: str, lock: str) -> int:
    """Ask, and tell what came of it."""
    command = [pip_audit, "--disable-pip", "--progress-spinner", "off", "-f", "json", "-r", lock]
    asked = subprocess.run(command, capture_output=True, text=True)
    try:
        told = json.loads(asked.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"NOT AUDITED: pip-audit gave no result: {asked.stderr.strip()[-300:]}")
        return 0
    skipped = [one["name"] for one in told if "skip_reason" in one]
    unsafe = [one for one in told if one.get("vulns")]
    for one in unsafe:
        for fault in one["vulns"]:
            mended = ", ".join(fault["fix_versions"]) or "no version"
            print(f"{one['name']} {one['version']}: {fault['id']}, mended in {mended}")
    if skipped:
        print(f"NOT AUDITED: the database told nothing of {len(skipped)} of {len(told)} versions")
    print(f"{len(told) - len(skipped)} versions audited, {len(unsafe)} with known vulnerabilities")
    return int(bool(unsafe))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
