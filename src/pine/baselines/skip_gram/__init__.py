"""Skip-gram with negative samples or hierarchical softmax, on random walks."""
