"""Files: written whole or not at all, checked before they are read, with what made them."""
