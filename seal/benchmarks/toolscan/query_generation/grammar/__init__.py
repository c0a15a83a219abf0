"""The writer that needs no model: texts by rule, of words that stand in the JSON files beside."""
