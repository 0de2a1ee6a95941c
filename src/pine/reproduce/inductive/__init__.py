"""PINE's function of neighbors inside other people's networks, trained on some graphs and tested on others."""
