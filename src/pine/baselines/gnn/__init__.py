"""Graph networks, and networks on node features alone."""
