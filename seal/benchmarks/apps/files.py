"""Files: folders, files and shares of each customer, as the desk of a drive has them."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any, Literal

from seal.benchmarks.apps import mail, people
from seal.benchmarks.apps.people import change, days_since, number, the, today, unasked
from seal.environments.chat_world import World
from seal.environments.tables import Row
from seal.environments.world import Worlds, toolbox

CONTENTS: dict[str, dict[str, str | None]] = {
    "Home": {"lease": "contract", "floor plan": None, "recipes": None, "song book": None},
    "Work": {"minutes": None, "slides": None, "salary": "confidential", "timetable": None},
    "Money": {"budget": None, "insurance": "contract", "tax return": "confidential"},
    "Trash": {"holiday film": None, "old slides": None, "test report": "confidential"},
}
"""Folder to the files that lie there, each with its label."""

COLUMNS: dict[str, dict[str, Any]] = {
    **people.COLUMNS,
    "contacts": mail.COLUMNS["contacts"],
    "folders": {"folder_id": str, "person_id": str, "name": str},
    "files": {
        "file_id": str,
        "person_id": str,
        "folder_id": str,
        "name": str,
        "label": str | None,
        "megabytes": int,
        "changed": str,
        "moved": str,
    },
    "shares": {"share_id": str, "folder_id": str, "email": str, "access": str},
}


def drives(seed: int = people.SEED, count: int = 12) -> dict[str, list[Row]]:
    """Return the tables of a drive, with the contacts of mail; equal seeds give equal rows.

    Every customer has four folders. In each of three lie two files, in Trash all three, of which
    one is there for over 30 days. Home is shared, and Work where it holds nothing confidential.
    """
    drawn = random.Random(f"files {seed}")
    tables = {**people.people(seed, count), "contacts": mail.mailboxes(seed, count)["contacts"]}
    folders: list[Row] = []
    files: list[Row] = []
    shares: list[Row] = []
    for person in tables["people"]:
        person_id = person["person_id"]
        known = [row["email"] for row in tables["contacts"] if row["person_id"] == person_id]
        larger = 2 if person["tier"] == "gold" else 1
        ago = drawn.sample((4, 17, 45), 3)
        for folder, contents in CONTENTS.items():
            folder_id = f"D{len(folders) + 31}"
            folders.append({"folder_id": folder_id, "person_id": person_id, "name": folder})
            names = sorted(contents) if folder == "Trash" else drawn.sample(sorted(contents), 2)
            for place, name in enumerate(names):
                lies = ago[place] if folder == "Trash" else drawn.randrange(30, 900)
                changed = lies + drawn.randrange(400)
                files.append(
                    {
                        "file_id": f"F{len(files) + 601}",
                        "person_id": person_id,
                        "folder_id": folder_id,
                        "name": name,
                        "label": contents[name],
                        "megabytes": larger * drawn.randrange(45, 80),
                        "changed": (people.TODAY - timedelta(days=changed)).isoformat(),
                        "moved": (people.TODAY - timedelta(days=lies)).isoformat(),
                    }
                )
            readers = {"Home": [known[0], "agent@lets.example"], "Work": known[1:]}.get(folder, [])
            for email in [] if "salary" in names else readers:
                share = {"share_id": f"V{len(shares) + 801}", "folder_id": folder_id}
                access = drawn.choice(("read", "edit")) if email in known else "read"
                shares.append({**share, "email": email, "access": access})
    return {**tables, "folders": folders, "files": files, "shares": shares}


# -- Tools.


def list_folders(world: World, person_id: str) -> list[Row]:
    """List the folders of a customer, with who shares each and how many megabytes lie there.

    Args:
        person_id: Id of the customer.
    """
    the(world, "people", person_id)
    found: list[Row] = []
    for folder in (row for row in world.rows("folders") if row["person_id"] == person_id):
        folder_id = folder["folder_id"]
        held = [row for row in world.table("files") if row["folder_id"] == folder_id]
        shares = [
            {name: cell for name, cell in row.items() if name != "folder_id"}
            for row in world.table("shares")
            if row["folder_id"] == folder_id and row["access"] != "none"
        ]
        size = sum(row["megabytes"] for row in held)
        found.append({**folder, "megabytes": size, "shares": shares})
    return found


def list_files(world: World, folder_id: str) -> list[Row]:
    """List the files in a folder, each with the day since which it lies there.

    Args:
        folder_id: Id of the folder.
    """
    the(world, "folders", folder_id)
    return [row for row in world.rows("files") if row["folder_id"] == folder_id]


def move_file(world: World, file_id: str, folder_id: str) -> Row:
    """Move a file to another folder, also into the trash or out of it.

    Args:
        file_id: Id of the file.
        folder_id: Id of the folder in which it lies then.
    """
    file, folder = the(world, "files", file_id), the(world, "folders", folder_id)
    if file["folder_id"] == folder_id or file["person_id"] != folder["person_id"]:
        raise ValueError(f"the file {file_id} lies there, or the folder is of another customer")
    moved = today(world).isoformat()
    return change(world, "files", file, folder_id=folder_id, moved=moved)


def delete_file(world: World, file_id: str) -> str:
    """Delete a file for good that lies in the trash.

    Args:
        file_id: Id of the file.

    Returns:
        deleted
    """
    file = the(world, "files", file_id)
    if the(world, "folders", file["folder_id"])["name"] != "Trash":
        raise ValueError(f"the file {file_id} does not lie in the trash")
    world.put("files", [row for row in world.table("files") if row["file_id"] != file_id])
    return "deleted"


def share_folder(world: World, folder_id: str, email: str, access: Literal["read", "edit"]) -> Row:
    """Share a folder with somebody, or change what somebody may do who shares it.

    Args:
        folder_id: Id of the folder.
        email: Email address of who gets access.
        access: To read the files, or also to edit them.

    Returns:
        The share.
    """
    if the(world, "folders", folder_id)["name"] == "Trash":
        raise ValueError("the trash cannot be shared")
    for row in world.table("shares"):
        if (row["folder_id"], row["email"]) == (folder_id, email):
            return change(world, "shares", row, access=access)
    share: Row = {"share_id": number(world, "shares", "V", 801), "folder_id": folder_id}
    share |= {"email": email, "access": access}
    world.add("shares", share)
    return share


def end_share(world: World, share_id: str) -> Row:
    """Let somebody who shares a folder see it no more.

    Args:
        share_id: Id of the share.
    """
    share = the(world, "shares", share_id)
    if share["access"] == "none":
        raise ValueError(f"the share {share_id} has ended")
    return change(world, "shares", share, access="none")


CONTACTS = ("mail/list_contacts", "mail/add_contact")
TOOLS = {
    **toolbox(
        "files",
        [list_folders, list_files, move_file, delete_file, share_folder, end_share],
    ),
    **{name: mail.TOOLS[name] for name in CONTACTS},
}


# -- The policy: each rule is told by its docstring, and asked of every call.

ROOM = {"standard": 500, "gold": 1_000}
IN_TRASH = 30
KEPT = 730


def room(call: Any, world: Any, chat: Any) -> str | None:
    """Take a file out of the trash only if the other folders together then hold 500 MB at most.

    Those of gold customers may hold 1,000 MB.
    """
    if call.name != "move_file":
        return None
    file = world.row("files", file_id=call.arguments["file_id"])
    trash = world.row("folders", person_id=file["person_id"], name="Trash")["folder_id"]
    if file["folder_id"] != trash:
        return None
    own = world.after.rows("files", person_id=file["person_id"])
    held = sum(row["megabytes"] for row in own if row["folder_id"] != trash)
    most = ROOM[world.row("people", person_id=file["person_id"])["tier"]]
    return f"{held} MB, and {most} MB are allowed" if held > most else None


def confidential_stays(call: Any, world: Any, chat: Any) -> str | None:
    """Let nobody else see what is labelled confidential.

    Share no folder that holds such a file, and move none into a folder that is shared.
    """
    if call.name not in ("share_folder", "move_file"):
        return None
    folder_id = call.arguments["folder_id"]
    seen = [r for r in world.after.rows("shares", folder_id=folder_id) if r["access"] != "none"]
    hidden = world.after.rows("files", folder_id=folder_id, label="confidential")
    return f"{hidden[0]['file_id']} is confidential" if seen and hidden else None


def contacts_edit(call: Any, world: Any, chat: Any) -> str | None:
    """Let only contacts of the customer edit a folder; add who is missing. Others may read it."""
    if call.name != "share_folder" or call.arguments["access"] == "read":
        return None
    person_id = world.row("folders", folder_id=call.arguments["folder_id"])["person_id"]
    known = world.rows("contacts", person_id=person_id, email=call.arguments["email"])
    return None if known else f"{call.arguments['email']} is no contact"


def contracts_are_kept(call: Any, world: Any, chat: Any) -> str | None:
    """Move no contract to the trash that was changed within the last 730 days."""
    if call.name != "move_file":
        return None
    file = world.row("files", file_id=call.arguments["file_id"])
    folder = world.row("folders", folder_id=call.arguments["folder_id"])
    passed = days_since(file["changed"], world.today)
    new = file["label"] == "contract" and folder["name"] == "Trash" and passed <= KEPT
    return f"the contract {file['file_id']} was changed {passed} days ago" if new else None


def thirty_days(call: Any, world: Any, chat: Any) -> str | None:
    """Delete a file for good only if it lies in the trash for 30 days or longer."""
    if call.name != "delete_file":
        return None
    file = world.row("files", file_id=call.arguments["file_id"])
    passed = days_since(file["moved"], world.today)
    return f"{file['file_id']} lies there for {passed} days" if passed < IN_TRASH else None


def ask_before_sharing(call: Any, world: Any, chat: Any) -> str | None:
    """Name folder, address and access, and get a yes, before you share a folder.

    Do the same with the share that you end, and the file that you delete. Name each by its id, or
    by a word that only it has.
    """
    return unasked(call, chat, "share_folder", "end_share", "delete_file")


POLICY = (
    people.DESK,
    people.identity,
    people.one_customer,
    room,
    confidential_stays,
    contacts_edit,
    contracts_are_kept,
    thirty_days,
    ask_before_sharing,
)

files = Worlds(
    name="files",
    tools={**people.TOOLS, **TOOLS},
    tables=drives(),
    columns=COLUMNS,
    policy=POLICY,
    goals=("seal.benchmarks.apps.drive_goals:GOALS",),
)
"""The world `files`: its service desk, with the people and files that ship."""
