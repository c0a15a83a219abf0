"""Why the failed goals of a finished run failed: its files in, a waterfall over stages out."""
