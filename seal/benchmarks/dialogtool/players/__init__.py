"""The roles of a tool's life in dialogue without a model: by rule, by chance, from gold."""
