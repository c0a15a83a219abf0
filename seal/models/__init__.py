"""Chat models: OpenAI-compatible servers, Gemini, and those that need no server at all."""

from seal.models.build import (
    REGISTRY,
    build_model,
    is_cached,
    is_free,
    is_offline,
    model_identity,
    open_model,
    split_name,
)
from seal.models.settings import ModelSettings
from seal.models.specs import Flagged, Model, account_of, bare_name, shown_at

__all__ = [
    "REGISTRY",
    "Flagged",
    "Model",
    "ModelSettings",
    "account_of",
    "bare_name",
    "build_model",
    "is_cached",
    "is_free",
    "is_offline",
    "model_identity",
    "open_model",
    "shown_at",
    "split_name",
]
