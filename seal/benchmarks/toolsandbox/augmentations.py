"""The tool augmentations of ToolSandbox, as `seal augment` takes them."""

from seal.pools.augmentation import SCRAMBLINGS, Augmentation

VARIANTS = (
    *(Augmentation(number) for number in (0, 3, 10)),
    Augmentation("all"),
    *(Augmentation(3, (what,)) for what in SCRAMBLINGS),
)
"""The eight variants of each base scenario (ToolSandbox, section 3.3)."""
