"""x before training."""
