"""How well a chat keeps to milestones, and off minefields."""
