"""What the command line does, as Python functions, a module a subject; `seal` exports them."""
