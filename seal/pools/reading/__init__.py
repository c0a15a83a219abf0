"""What importers share: reading upstream's files, types and names."""
