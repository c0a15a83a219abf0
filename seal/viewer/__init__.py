"""Runs in a browser: pages that a server makes when they are asked for, or a site to publish."""

from seal.lazy import give_names

give_names(__name__)
