from hypothesis import given
from hypothesis import strategies as st

from seal.core.text import one_line, printable


def test_escape_sequences_become_visible():
    assert printable("\x1b[31mred\x1b]0;title\x07") == "␛[31mred␛]0;title␇"


def test_c1_controls_and_bidirectional_overrides_become_visible():
    assert printable("\x9b31m\u202eabc\x7f\r") == "\\x9b31m\\u202eabc␡␍"


def test_newlines_tabs_scripts_and_emoji_stay():
    text = "a\tb\n東京 مرحبا 👩‍👩‍👧 é"

    assert printable(text) == text
    assert printable("a\r\nb") == "a\nb"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_written_and_holds_no_control(text):
    shown = printable(text)

    shown.encode()
    assert all(
        character in "\t\n" or character.isprintable() or ord(character) > 0x9F
        for character in shown
    )
    assert printable(shown) == shown


@given(st.text(), st.integers(1, 50))
def test_one_line_keeps_to_its_length(text, length):
    line = one_line(text, length)

    assert len(line) <= length
    assert "\n" not in line
