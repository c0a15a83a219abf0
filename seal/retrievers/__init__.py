"""Retrievers: which tools of a pool are offered for a request."""
