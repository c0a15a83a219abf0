"""Files: what its tools change and refuse, and which calls break each rule of its policy."""

import pytest
from desks import desk

from seal.benchmarks.apps import files

JONAS = "jonas.brandt@mail.example"
"""A contact of P12, who reads the folder D35."""
AGENT = "agent@lets.example"
"""No contact of P12."""


@pytest.mark.parametrize("seed", range(6))
def test_drives_of_any_seed_fit_together(seed: int) -> None:
    made = files.drives(seed)

    assert made == files.drives(seed)
    for table, columns in files.COLUMNS.items():
        assert all(list(row) == list(columns) for row in made[table]), table
    folders = {row["folder_id"]: row for row in made["folders"]}
    contacts = {(row["person_id"], row["email"]) for row in made["contacts"]}
    shared = {row["folder_id"] for row in made["shares"]}
    for row in made["files"]:
        assert folders[row["folder_id"]]["person_id"] == row["person_id"]
        assert row["label"] != "confidential" or row["folder_id"] not in shared
    for row in made["shares"]:
        owner = folders[row["folder_id"]]["person_id"]
        assert row["access"] == "read" or (owner, row["email"]) in contacts


def test_folders_are_listed_with_sizes_and_open_shares() -> None:
    at = desk("files")
    at.use("end_share", share_id="V804")

    listed = at.use("list_folders", person_id="P12")
    assert [(row["name"], row["megabytes"]) for row in listed] == [
        ("Home", 130),
        ("Work", 139),
        ("Money", 141),
        ("Trash", 165),
    ]
    assert listed[0]["shares"] == [{"share_id": "V803", "email": JONAS, "access": "read"}]
    assert [row["file_id"] for row in at.use("list_files", folder_id="D35")] == ["F610", "F611"]
    assert "no row of folders" in at.refused("list_files", folder_id="D99")
    assert "has ended" in at.refused("end_share", share_id="V804")


def test_a_file_moves_to_a_folder_of_its_customer() -> None:
    at = desk("files")

    moved = at.use("move_file", file_id="F616", folder_id="D37")
    assert (moved["folder_id"], moved["moved"]) == ("D37", "2026-03-16")
    assert "lies there" in at.refused("move_file", file_id="F616", folder_id="D37")
    assert "another customer" in at.refused("move_file", file_id="F616", folder_id="D39")


def test_files_are_deleted_from_the_trash_alone() -> None:
    at = desk("files")

    assert at.use("delete_file", file_id="F617") == "deleted"
    assert "no row of files" in at.refused("delete_file", file_id="F617")
    assert "does not lie in the trash" in at.refused("delete_file", file_id="F610")


def test_a_share_is_made_changed_and_made_again() -> None:
    at = desk("files")

    assert at.use("share_folder", folder_id="D37", email=AGENT, access="read")["share_id"] == "V828"
    changed = at.use("share_folder", folder_id="D35", email=JONAS, access="edit")
    assert (changed["share_id"], changed["access"]) == ("V803", "edit")
    at.use("end_share", share_id="V803")
    again = at.use("share_folder", folder_id="D35", email=JONAS, access="read")
    assert (again["share_id"], again["access"]) == ("V803", "read")
    assert "cannot be shared" in at.refused(
        "share_folder", folder_id="D38", email=JONAS, access="read"
    )


# -- The policy: of each rule a call that breaks it, and one that keeps it.


@pytest.mark.parametrize(
    ("person", "file_id", "folder", "megabytes", "broken"),
    [
        ("P12", "F616", "D37", 90, []),
        ("P12", "F616", "D37", 91, ["room"]),
        ("P12", "F610", "D37", 480, []),
        ("P16", "F652", "D51", 268, []),
        ("P16", "F652", "D51", 269, ["room"]),
    ],
)
def test_what_leaves_the_trash_needs_room(
    person: str, file_id: str, folder: str, megabytes: int, broken: list[str]
) -> None:
    rows = [
        {**row, "megabytes": megabytes} if row["file_id"] == file_id else row
        for row in files.drives()["files"]
    ]
    at = desk("files", files=rows).check(person)
    assert at.broken("move_file", file_id=file_id, folder_id=folder) == broken


def sharing(at, folder: str, email: str, access: str) -> list[str]:
    at.agree(f"Shall I share folder {folder} with {email}, access {access}?")
    return at.broken("share_folder", folder_id=folder, email=email, access=access)


def test_nobody_else_sees_what_is_confidential() -> None:
    at = desk("files").check("P13")
    assert sharing(at, "D41", JONAS, "read") == ["confidential_stays"]
    for folder, broken in (("D39", ["confidential_stays"]), ("D42", [])):
        assert at.broken("move_file", file_id="F623", folder_id=folder) == broken
    at.use("move_file", file_id="F623", folder_id="D42")
    assert sharing(at, "D41", JONAS, "read") == []
    assert at.broken("move_file", file_id="F624", folder_id="D39") == []


def test_what_nobody_sees_any_more_may_hold_what_is_confidential() -> None:
    at = desk("files").check("P13")
    for share in ("V806", "V807"):
        at.use("end_share", share_id=share)
    assert at.broken("move_file", file_id="F623", folder_id="D39") == []


def test_contacts_alone_edit() -> None:
    at = desk("files").check("P12")
    assert sharing(at, "D37", AGENT, "edit") == ["contacts_edit"]
    assert sharing(at, "D37", AGENT, "read") == []
    assert sharing(at, "D37", JONAS, "edit") == []
    at.use("add_contact", person_id="P12", name="Agent", email=AGENT)
    assert sharing(at, "D37", AGENT, "edit") == []


def test_contracts_are_kept_for_730_days() -> None:
    for day, broken in (("2024-03-16", ["contracts_are_kept"]), ("2024-03-15", [])):
        rows = [
            {**row, "changed": day} if row["file_id"] == "F611" else row
            for row in files.drives()["files"]
        ]
        at = desk("files", files=rows).check("P12")
        assert at.broken("move_file", file_id="F611", folder_id="D38") == broken, day
        assert at.broken("move_file", file_id="F611", folder_id="D37") == []
        assert at.broken("move_file", file_id="F610", folder_id="D38") == []


def test_files_are_deleted_after_thirty_days_in_the_trash() -> None:
    for day, broken in (("2026-02-14", []), ("2026-02-15", ["thirty_days"])):
        rows = [
            {**row, "moved": day} if row["file_id"] == "F617" else row
            for row in files.drives()["files"]
        ]
        at = desk("files", files=rows).check("P12").agree("Shall I delete file F617?")
        assert at.broken("delete_file", file_id="F617") == broken, day


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("share_folder", {"folder_id": "D37", "email": JONAS, "access": "read"}),
        ("end_share", {"share_id": "V804"}),
        ("delete_file", {"file_id": "F617"}),
    ],
)
def test_others_see_more_or_less_only_with_a_yes(name: str, arguments: dict) -> None:
    assert desk("files").check("P12").broken(name, **arguments) == ["ask_before_sharing"]


def test_shares_and_files_are_of_who_has_the_folder() -> None:
    at = desk("files+mail")

    calls = {"end_share": {"share_id": "V804"}, "list_files": {"folder_id": "D35"}}
    for name, arguments in calls.items():
        assert "identity" in at.broken(name, **arguments)
        at.agree("Shall I end share V804?")
    at.check("P12")
    assert at.broken("end_share", share_id="V804") == []
    assert at.broken("list_files", folder_id="D39") == ["identity"]
