"""Experiments in retrieval: retrievers over pools, drawn sizes and samples, without a chat.

Source: the SEAL paper, Figure 2. `experiment` is the whole, the others are its stages.
"""
