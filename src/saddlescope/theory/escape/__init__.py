"""Escape from the origin of a bias-free ReLU net: localized loss, escape directions, certificates and bounds."""
