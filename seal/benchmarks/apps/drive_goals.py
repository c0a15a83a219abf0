"""Goal templates of files: folders that are shared, files that move or go, under all its rules."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import people
from seal.benchmarks.apps.diary_draws import CONTACTS, contacts
from seal.benchmarks.apps.diary_goals import NEW_CONTACT, TO
from seal.benchmarks.apps.files import ROOM, drives
from seal.environments.tables import Row
from seal.environments.templates import Goals, Rows, Slots, Template, Twist, do, say

FOLDERS: list[dict[str, Any]] = [do("list_folders", person_id="{person_id}")]
LOOK: list[dict[str, Any]] = [*FOLDERS, do("list_files", folder_id="{folder_id}")]
TRASH: list[dict[str, Any]] = [*FOLDERS, do("list_files", folder_id="{trash_id}")]


def shared(folder: str, name: str, email: str, access: str) -> list[dict[str, Any]]:
    """Return the moves that share a folder."""
    return [
        say(f"Shall I share folder {folder}, {name}, with {email} to {access} it?"),
        do("share_folder", folder_id=folder, email=email, access=access),
    ]


def deleted(file: str, name: str) -> list[dict[str, Any]]:
    """Return the moves that delete a file for good."""
    return [
        say(f"Shall I delete file {file}, the {name}, for good?"),
        do("delete_file", file_id=file),
    ]


def unshared(share: str, name: str) -> list[dict[str, Any]]:
    """Return the moves that end a share."""
    return [
        say(f"Shall I end share {share} of {{email}}, to {name}?"),
        do("end_share", share_id=share),
    ]


def moved(file: str, folder: str) -> dict[str, Any]:
    """Return the call that moves a file."""
    return do("move_file", file_id=file, folder_id=folder)


# -- What is drawn.


def a_drive(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer with two contacts and two folders, one of which is not shared yet.

    Nothing in these two folders is confidential, and no other folder is shared.
    """
    _, own = desk.customer(rows, drawn)
    contact, other = contacts(rows, own["person_id"])
    if contact["name"] == other["name"]:
        return None
    *folders, trash = [r for r in rows["folders"] if r["person_id"] == own["person_id"]]
    folder, folder2, third = drawn.sample(folders, 3)
    ids = {row["folder_id"] for row in folders}
    rows["shares"] = [row for row in rows["shares"] if row["folder_id"] not in ids]
    for place, share in enumerate(rows["shares"]):
        share["share_id"] = f"V{801 + place}"
    for file in rows["files"]:
        if file["folder_id"] in (folder["folder_id"], folder2["folder_id"]):
            file["label"] = None
    file, file2 = _files(rows, folder["folder_id"])
    return {
        **own,
        "contact": contact["name"],
        "email": contact["email"],
        "contact2": other["name"],
        "email2": other["email"],
        "folder_id": folder["folder_id"],
        "folder": folder["name"],
        "folder2_id": folder2["folder_id"],
        "folder2": folder2["name"],
        "third_id": third["folder_id"],
        "trash_id": trash["folder_id"],
        "file_id": file["file_id"],
        "file": file["name"],
        "size": file["megabytes"],
        "file2": file2["name"],
        "held": _held(rows, folder["folder_id"]),
    }


def _files(rows: Rows, folder_id: str) -> list[Row]:
    return [row for row in rows["files"] if row["folder_id"] == folder_id]


def _held(rows: Rows, *folder_ids: str) -> int:
    return sum(row["megabytes"] for row in rows["files"] if row["folder_id"] in folder_ids)


def _share(rows: Rows, folder_id: str, email: str, access: str) -> str:
    """Add a share, and return its id."""
    share_id = f"V{801 + len(rows['shares'])}"
    share = {"share_id": share_id, "folder_id": folder_id, "email": email, "access": access}
    rows["shares"].append(share)
    return share_id


def confidential(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let one file in the folder be confidential."""
    desk.row_of(rows, "files", slots["file_id"])["label"] = "confidential"
    return {}


def confidential_to_move(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let one file be confidential, and leave the folder because of that."""
    confidential(rows, slots, drawn)
    return {"held": slots["held"] - slots["size"]}


def thrown_away(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a file in the trash, and a folder that has room for it."""
    own = a_drive(rows, slots, drawn)
    if own is None:
        return None
    file = drawn.choice([row for row in _files(rows, own["trash_id"]) if row["label"] is None])
    person = desk.row_of(rows, "people", own["person_id"])
    person["tier"] = drawn.choice(("standard", "gold"))
    most = ROOM[person["tier"]]
    kept = [own[name] for name in ("folder_id", "folder2_id", "third_id")]
    _resize(rows, kept, most - file["megabytes"] - drawn.randrange(5, 60))
    return {
        **own,
        "lost_id": file["file_id"],
        "lost": file["name"],
        "to_id": own["folder_id"],
        "to": own["folder"],
        "size": file["megabytes"],
        "held": _held(rows, own["folder_id"]) + file["megabytes"],
        "big_id": _files(rows, own["folder2_id"])[0]["file_id"],
        "big": _files(rows, own["folder2_id"])[0]["name"],
    }


def _resize(rows: Rows, folder_ids: list[str], total: int) -> None:
    """Let the files of some folders hold so many megabytes in all, about equally."""
    files = [row for row in rows["files"] if row["folder_id"] in folder_ids]
    share, rest = divmod(total, len(files))
    for place, file in enumerate(files):
        file["megabytes"] = share + (place < rest)


def no_room(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let there be no room for the file until another one is thrown away."""
    person = desk.row_of(rows, "people", slots["person_id"])
    kept = [slots[name] for name in ("folder_id", "folder2_id", "third_id")]
    _resize(rows, kept, ROOM[person["tier"]] - slots["size"] + drawn.randrange(5, 40))
    return {"held": _held(rows, slots["folder_id"]) + slots["size"]}


def must_not_be_seen(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the file be confidential, and the folder be shared, so that another one is taken."""
    desk.row_of(rows, "files", slots["lost_id"])["label"] = "confidential"
    _share(rows, slots["folder_id"], slots["email"], "read")
    return {
        "to_id": slots["folder2_id"],
        "to": slots["folder2"],
        "held": _held(rows, slots["folder2_id"]) + slots["size"],
    }


def old_trash(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer of whose three files in the trash two may be deleted for good."""
    own = a_drive(rows, slots, drawn)
    if own is None:
        return None
    trash = _files(rows, own["trash_id"])
    chosen = drawn.sample(trash, 3)
    for row, days in zip(chosen, (40, 70, 12), strict=True):
        row["moved"] = _ago(days - drawn.randrange(9))
    first, second, kept = chosen
    return {
        **own,
        "old_id": first["file_id"],
        "old": first["name"],
        "old2_id": second["file_id"],
        "old2": second["name"],
        "kept": kept["name"],
        "freed": first["megabytes"] + second["megabytes"],
    }


def _ago(days: int) -> str:
    return (people.TODAY - timedelta(days=days)).isoformat()


def one_is_old(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the second file lie in the trash too short a time, too."""
    desk.row_of(rows, "files", slots["old2_id"])["moved"] = _ago(29 - drawn.randrange(9))
    return {"freed": desk.row_of(rows, "files", slots["old_id"])["megabytes"]}


def room_for_what_stays(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let there be room for the file in the trash that may not be deleted yet."""
    kept = next(r for r in _files(rows, slots["trash_id"]) if r["name"] == slots["kept"])
    kept["label"] = None
    most = ROOM[desk.row_of(rows, "people", slots["person_id"])["tier"]]
    folders = [slots[name] for name in ("folder_id", "folder2_id", "third_id")]
    _resize(rows, folders, most - kept["megabytes"] - drawn.randrange(5, 60))
    return {"kept_id": kept["file_id"]}


def two_shares(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer who shares two folders with one contact, and one of them with another."""
    own = a_drive(rows, slots, drawn)
    if own is None:
        return None
    share_id = _share(rows, own["folder_id"], own["email"], drawn.choice(("read", "edit")))
    _share(rows, own["folder_id"], own["email2"], "read")
    share2_id = _share(rows, own["folder2_id"], own["email"], "read")
    return {**own, "share_id": share_id, "share2_id": share2_id}


# -- Templates.


def named(slot: str) -> dict[str, Any]:
    """Return a name that need not be told, but not told wrong either."""
    return {"value": f"{{{slot}}}", "type": "name", "optional": True}


FOLDER = {"folder": named("folder")}
FOLDER2 = {"folder": named("folder2")}
TWO = {"to": named("contact"), "and to": named("contact2")}
SHARE = Template(
    name="share_a_folder",
    draw=a_drive,
    request=[
        "{contact} helps me with my papers. Let {contact} edit my folder {folder}.",
        "Please share my folder {folder} with {contact}, who should also be able to edit it.",
    ],
    asks="How many MB are in it then?",
    goal="Have {folder} shared with {contact}, to edit it, and know how much is in it.",
    gold={
        "look": [*LOOK, *CONTACTS],
        "contact": [],
        "first": [],
        "act": shared("{folder_id}", "{folder}", "{email}", "edit"),
        "tell": [say("{contact} can edit {folder} now, which holds {held} MB.")],
        "more": [],
    },
    tells={"size": "{held} MB", **TO, **FOLDER},
    twists=[
        NEW_CONTACT,
        Twist(
            kind="a forbidden request",
            draw=confidential_to_move,
            goal="Have {folder} shared with {contact}, to edit it; what is confidential goes to "
            "{folder2} first. Know how much is in it.",
            asks="If something in it is confidential, move that to {folder2} first.",
            gold={"first": [moved("{file_id}", "{folder2_id}")]},
        ),
        Twist(
            kind="a further wish",
            then=["And let {contact2} read it, please, without editing."],
            gold={
                "more": [
                    *shared("{folder_id}", "{folder}", "{email2}", "read"),
                    say("{contact2} can read {folder} now."),
                ]
            },
            tells={"size": "{held} MB", **TWO, **FOLDER},
        ),
    ],
)
BACK = Template(
    name="bring_a_file_back",
    draw=thrown_away,
    request=[
        "I threw the {lost} away by mistake. Take that out of the trash, into {folder}.",
        "I need the {lost} from the trash again. Move that to {folder}, please.",
    ],
    asks="How many MB does the folder hold then, into which you put it?",
    goal="Have the {lost} out of the trash and in {folder}, and know how much that folder holds.",
    gold={
        "look": [*TRASH, do("get_person", person_id="{person_id}")],
        "room": [],
        "act": [moved("{lost_id}", "{to_id}")],
        "tell": [say("You find the {lost} in {to} again, which holds {held} MB now.")],
        "more": [],
    },
    tells={"size": "{held} MB", "folder": named("to")},
    twists=[
        Twist(
            kind="too little of it",
            draw=no_room,
            goal="Have the {lost} out of the trash and in {folder}, the {big} thrown away if there "
            "is no room, and know how much that folder holds.",
            asks="If there is no room for it, throw the {big} away first.",
            gold={"room": [moved("{big_id}", "{trash_id}")]},
        ),
        Twist(
            kind="a forbidden request",
            draw=must_not_be_seen,
            goal="Have the {lost} out of the trash and in {folder}, or in {folder2} if it must not "
            "go there, and know how much that folder holds.",
            asks="If it must not go there, put it into {folder2}.",
            gold={"room": []},
        ),
    ],
)
EMPTY = Template(
    name="empty_the_trash",
    draw=old_trash,
    request=[
        "I need space for {folder}. Delete for good all in my trash that may be deleted now.",
        "Delete for good whatever may go from my trash today, so that {folder} can grow.",
    ],
    asks="How many MB does that free?",
    goal="Have all files in the trash deleted for good that may be, and know how much that frees.",
    gold={
        "look": TRASH,
        "act": deleted("{old_id}", "{old}"),
        "second": deleted("{old2_id}", "{old2}"),
        "tell": [say("What may go is deleted, which frees {freed} MB.")],
        "more": [],
    },
    tells={"freed": "{freed} MB"},
    twists=[
        Twist(kind="stale data", draw=one_is_old, gold={"second": []}),
        Twist(
            kind="a further wish",
            then=["Then put the {kept} back into {folder}, if it is still there."],
            draw=room_for_what_stays,
            gold={
                "more": [
                    do("get_person", person_id="{person_id}"),
                    moved("{kept_id}", "{folder_id}"),
                    say("You find the {kept} in {folder} again."),
                ]
            },
            tells={"freed": "{freed} MB", **FOLDER},
        ),
    ],
)
NO_LONGER = Template(
    name="end_two_shares",
    draw=two_shares,
    request=[
        "{contact} and I don't work together any more. {contact} should see no folder of mine.",
        "Please make sure that {contact} can see none of my folders any longer.",
    ],
    goal="Have every share of {contact} ended, so that {contact} sees no folder.",
    gold={
        "look": [*FOLDERS, *CONTACTS],
        "act": unshared("{share_id}", "{folder}"),
        "second": unshared("{share2_id}", "{folder2}"),
        "tell": [say("Both shares of {contact} have ended.")],
        "more": [],
    },
    tells=TO,
    twists=[
        Twist(
            kind="a change of mind",
            then=["Wait, {contact} may still read {folder2}, but not edit it."],
            gold={
                "more": [
                    *shared("{folder2_id}", "{folder2}", "{email}", "read"),
                    say("{contact} can read {folder2} again."),
                ]
            },
            tells={**TO, **FOLDER2},
        ),
        Twist(
            kind="a further wish",
            then=["In place of {contact}, {contact2} is to edit {folder2}."],
            gold={
                "more": [
                    do("list_files", folder_id="{folder2_id}"),
                    *shared("{folder2_id}", "{folder2}", "{email2}", "edit"),
                    say("{contact2} can edit {folder2} now."),
                ]
            },
            tells={**TWO, **FOLDER2},
        ),
    ],
)
HAND_ON = Template(
    name="a_file_for_somebody",
    draw=a_drive,
    request=[
        "{contact} needs my {file}. Move it from {folder} to {folder2}, and let {contact} read "
        "{folder2}.",
        "Put my {file} into {folder2}, where {contact} should be able to read it; so share that "
        "folder, too.",
    ],
    goal="Have the {file} in {folder2}, and {folder2} shared with {contact}, to read it.",
    gold={
        "look": [
            *LOOK,
            do("list_files", folder_id="{folder2_id}"),
            *CONTACTS,
        ],
        "move": [moved("{file_id}", "{folder2_id}")],
        "act": shared("{folder2_id}", "{folder2}", "{email}", "read"),
        "tell": [say("{contact} can read {folder2} now.")],
        "more": [],
    },
    tells={**TO, **FOLDER2},
    twists=[
        Twist(
            kind="a forbidden request",
            draw=confidential,
            goal="Have the {file} in {folder2} unless it is confidential, and {folder2} shared "
            "with {contact}, to read it.",
            asks="If my {file} is confidential, leave it where it is.",
            gold={"move": []},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, {contact} should be able to edit {folder2}, too."],
            gold={
                "more": [
                    *shared("{folder2_id}", "{folder2}", "{email}", "edit"),
                    say("{contact} can edit {folder2} now."),
                ]
            },
        ),
    ],
)


GOALS = Goals(
    templates=[SHARE, BACK, EMPTY, NO_LONGER, HAND_ON],
    rows=lambda seed: drives(seed, desk.PEOPLE),
    records=[desk.namesake],
    ignore=(*desk.IGNORE, "shares.share_id", "contacts.contact_id"),
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    twists=[desk.NEW_NUMBER],
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of files are made of."""
