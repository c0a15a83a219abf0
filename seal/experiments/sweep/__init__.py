"""Whole runs over pools of several sizes and several K: every drawn pool is played end to end.

Source: the SEAL paper, Table 3 and Figure 4. `seal.pools.samples` says how pools are drawn.
"""
