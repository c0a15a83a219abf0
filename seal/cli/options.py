"""The options that several verbs share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.cli.groups import argument, flag, option, repeated, setting
from seal.runs.settings import RunSettings

BASE_URL = setting(RunSettings, "base_url")
ON = setting(RunSettings, "on")
CACHE_DIR = setting(RunSettings, "cache_dir")
CACHE_URL = setting(RunSettings, "cache_url")
MODEL_OPTIONS = setting(RunSettings, "model_options")
ALLOW_CODE = setting(RunSettings, "allow_code")
SIMULATOR = setting(RunSettings, "simulator")
SEED = setting(RunSettings, "seed")
POOL = argument(
    "Name of a shipped benchmark, folder of an imported one, or your own as module:name.",
    metavar="NAME|DIR",
)
NEW_FOLDER = option(..., "Folder to write; the command that began it continues there.")
POOL_NAME = option("", "Name of the new pool.  [default: that of its folder]")
WRITER = option(None, "Model that writes, as PROVIDER/MODEL.  [default: a grammar]")
JSON = flag("Print one JSON object and nothing else.")


@dataclass(frozen=True, kw_only=True)
class ServersElsewhere:
    """MCP servers: those whose tools are imported, or called in mcp."""

    url: tuple[str, ...] = repeated(
        "Address of an MCP server; repeatable.", metavar="[NAME=]URL", setting="servers"
    )
    config: Path | None = option(
        None, "File that lists MCP servers, such as mcp.json.", metavar="FILE", setting="servers"
    )

    def named(self, commands: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the servers by name, as `RunSettings.servers` takes them."""
        if not (commands or self.url or self.config):
            return {}
        from seal.environments.mcp_servers import named_servers

        return named_servers(commands, self.url, self.config)


@dataclass(frozen=True, kw_only=True)
class Servers(ServersElsewhere):
    """MCP servers: those whose tools are imported, or called in mcp."""

    stdio: tuple[str, ...] = repeated(
        "Command that starts an MCP server; repeatable.",
        metavar="[NAME=]COMMAND",
        setting="servers",
    )

    def named(self, commands: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the servers by name, those that are commands too."""
        return super().named((*self.stdio, *commands))
