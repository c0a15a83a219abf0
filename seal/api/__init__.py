"""What the command line does, as Python functions, a module a subject; `seal` exports them."""

from seal.lazy import give_names

give_names(__name__)
