"""What advances a run: compiled loops behind one interface."""
