"""Sphinx: `make docs`."""

project = "Saddlescope"
author = "The Saddlescope developers"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
exclude_patterns = ["_build", "jupyter_execute"]
nb_execution_mode = "off"
autodoc_typehints = "none"
