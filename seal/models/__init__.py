"""Chat models: OpenAI-compatible servers, Gemini, and those that need no server at all."""

from seal.models.build import (
    REGISTRY,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    offline_options,
    open_model,
)
from seal.models.cached import CachedModel, ModelStore
from seal.models.settings import ModelSettings

__all__ = [
    "REGISTRY",
    "CachedModel",
    "ModelSettings",
    "ModelStore",
    "build_model",
    "is_cached",
    "is_offline",
    "model_identity",
    "offline_options",
    "open_model",
]
