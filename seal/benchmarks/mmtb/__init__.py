"""Multi-Mission Tool Bench (MMTB): its tool lists, and its test records as tasks of missions."""
