"""Tool augmentations: the same tasks with more tools to tell apart, or tools that say less."""

from seal.pools.augment.augmentations import TOOLSANDBOX, Augmentation, parse_augmentations
from seal.pools.augment.distraction import Distractors
from seal.pools.augment.pools import Augmented, augment_pool, augment_stored
from seal.pools.augment.renaming import renamed
from seal.pools.augment.scrambling import Scrambler, originals

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
