"""Runs in a browser: pages that a server makes when they are asked for, or a site to publish."""
