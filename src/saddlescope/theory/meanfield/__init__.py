"""The mean-field limit of low-rank random-feature nets: kernels, bounds, lemmas and reductions in closed form."""
