"""struc2vec: walks over a multilayer graph of structural similarity."""
