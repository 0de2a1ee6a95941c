"""GCN, GAT and GraphSAGE."""
