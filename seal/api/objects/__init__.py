"""What the public functions return: typed, with frames, tables and pictures."""
