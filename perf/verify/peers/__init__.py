"""Code and records that others made, beside which SEAL's figures are held (`verify.py`)."""
