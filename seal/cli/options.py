"""The options that several verbs share."""

from __future__ import annotations

from seal.cli.groups import argument, flag, option, setting
from seal.runs.settings import RunSettings

BASE_URL = setting(RunSettings, "base_url")
PROCESSES = setting(RunSettings, "processes")
CACHE_DIR = setting(RunSettings, "cache_dir")
MODEL_OPTIONS = setting(RunSettings, "model_options")
ALLOW_CODE = setting(RunSettings, "allow_code")
SIMULATOR = setting(RunSettings, "simulator")
SERVERS = setting(RunSettings, "servers")
SEED = setting(RunSettings, "seed")
POOL = argument(
    "Name of a shipped benchmark, folder of an imported one, or your own as module:name.",
    metavar="NAME|DIR",
)
NEW_FOLDER = option(..., "Folder to write; the command that began it continues there.")
JSON = flag("Print one JSON object and nothing else.")
