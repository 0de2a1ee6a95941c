"""Random streams, sampled neighbors, and walks: first order, node2vec, metapaths."""
