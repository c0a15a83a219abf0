"""Reading a run: tables, transcripts, and the HTML report."""
