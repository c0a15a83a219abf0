"""The small benchmark of whole dialogues that ships: a phone's apps, all of our own making.

`authored/` holds what was written: the apps with what they know (`apps.json`), and the dialogues in
a short notation (`dialogues.txt`, read by `perf/samples/dialogtool_notation.py`). Beside it lies
the pool that they compile to:

    python perf/samples/compile_samples.py dialogtool-sample AUTHORED POOL

Each dialogue becomes a record in the form of the Schema-Guided Dialogue corpus, and the importer of
that corpus makes the pool. Calls and results are not written but computed: the arguments are what
was said, the rows what the app knows of them.

The library, `Loans`, asks for a card number and a PIN in every call, which no app of the corpus
does. Towns, persons, works and companies are invented.
"""
