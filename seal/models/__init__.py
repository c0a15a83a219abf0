"""Chat models: OpenAI-compatible servers, Gemini, and those that need no server at all."""

from seal.lazy import give_names
from seal.models.build import REGISTRY as REGISTRY
from seal.models.build import build_model as build_model
from seal.models.build import is_cached as is_cached
from seal.models.build import is_free as is_free
from seal.models.build import is_offline as is_offline
from seal.models.build import model_identity as model_identity
from seal.models.build import open_model as open_model
from seal.models.build import split_name as split_name
from seal.models.model_settings import ModelSettings as ModelSettings
from seal.models.model_specs import Flagged as Flagged
from seal.models.model_specs import Model as Model
from seal.models.model_specs import account_of as account_of
from seal.models.model_specs import bare_name as bare_name
from seal.models.model_specs import shown_at as shown_at

give_names(__name__)
