"""Reading a run: tables, transcripts, and the HTML report."""

from seal.lazy import give_names

give_names(__name__)
