"""Chat models: OpenAI-compatible servers, Gemini, and those that need no server at all."""

from seal.models.spec import REGISTRY as REGISTRY
from seal.models.spec import Flagged as Flagged
from seal.models.spec import Model as Model
from seal.models.spec import ModelSettings as ModelSettings
from seal.models.spec import account_of as account_of
from seal.models.spec import bare_name as bare_name
from seal.models.spec import build_model as build_model
from seal.models.spec import is_cached as is_cached
from seal.models.spec import is_free as is_free
from seal.models.spec import is_offline as is_offline
from seal.models.spec import model_identity as model_identity
from seal.models.spec import open_model as open_model
from seal.models.spec import shown_at as shown_at
from seal.models.spec import split_name as split_name
