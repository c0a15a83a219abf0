"""The small benchmark of related missions that ships: 256 dialogues of four, of our own making.

Each sequence of the four mission types stands once. A grammar that earlier versions had made them
over the tools of the sample, and the simulator `template` their results; no model took part.
Each dialogue passed the machine checks of `seal.benchmarks.mmtb.generation_checks`. Arguments
are compared by the scorer `exact`. A request states every value as the call needs it, or refers to
one in an earlier text. Persons, companies and all results are invented.
"""
