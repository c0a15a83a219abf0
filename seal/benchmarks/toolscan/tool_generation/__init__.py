"""Tool lists written from one-sentence descriptions, by a grammar or a model, checked by rule."""
