"""Tool augmentations: the same tasks with more tools to tell apart, or tools that say less."""

from seal.benchmarks.augment.augmentations import TOOLSANDBOX, Augmentation, parse_augmentations
from seal.benchmarks.augment.distraction import Distractors
from seal.benchmarks.augment.pools import Augmented, augment_pool, augment_stored
from seal.benchmarks.augment.renaming import renamed
from seal.benchmarks.augment.scrambling import Scrambler, originals

__all__ = [
    "TOOLSANDBOX",
    "Augmentation",
    "Augmented",
    "Distractors",
    "Scrambler",
    "augment_pool",
    "augment_stored",
    "originals",
    "parse_augmentations",
    "renamed",
]
