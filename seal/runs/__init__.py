"""One run: settings, models, environments, chats, scores."""
