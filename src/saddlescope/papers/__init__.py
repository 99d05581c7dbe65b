"""One folder per paper, one short file per experiment. Nothing imports from here: commands find
them by name.
"""
