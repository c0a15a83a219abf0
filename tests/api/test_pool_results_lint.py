"""What `seal.lint` returns is read as other results are."""

import pytest

import seal


def test_findings_are_a_table_for_terminal_and_notebook() -> None:
    found = seal.lint("sample")
    assert repr(found).splitlines()[0] == "sample: 65 tools, 80 tasks, 6 findings"
    assert "<td>ungrounded_value</td>" in found._repr_html_()
    assert found.findings[0].message in " ".join(found.table().replace("│", " ").split())
    assert sum(found.counts().values()) == len(found.findings) == len(found.to_json()["findings"])


def test_a_wrong_use_of_it_names_what_it_takes() -> None:
    with pytest.raises(seal.SealError, match="counts: too many positional arguments"):
        seal.lint("sample").counts(1)


def test_the_short_table_has_the_shares_of_variants() -> None:
    found = seal.lint("toolsandbox-sample", mutants=True, sample=1)
    assert "gold of 1 task: 100.0% of the decided wrong ones are killed" in repr(found)
    assert "wrong ones" not in repr(seal.lint("toolsandbox-sample"))
