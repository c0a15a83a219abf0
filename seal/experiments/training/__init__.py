"""Training of retrievers; `train` is the whole, the others are its stages."""
