"""The same instruments for somebody else's training loop. They have their place here."""
