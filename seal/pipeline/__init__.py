"""The stages in a row: retrieve, chat, score; run folders; resume."""
