"""Forms of calls as text that have a chapter of their own."""
