"""One folder a paper, one short file an experiment; nothing imports from here, the command line finds them by name."""
