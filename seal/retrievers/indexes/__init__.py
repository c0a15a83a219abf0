"""Indexes of vectors: their kinds by name, the one over Faiss, and their files on disk."""
