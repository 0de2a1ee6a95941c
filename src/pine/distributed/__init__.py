"""One fit on several processes, the ranks of torch.distributed: who has which nodes, and what travels between them.

ranks      sums over all ranks, and rows that one sends to another; a process alone sends nothing
partition  nodes over ranks: METIS where pymetis is installed, else streaming
part       the nodes and edges of one rank, and the rows of others that its neighbor sums need
torchrun   ranks as torchrun starts them
"""

from pine.distributed import ranks as ranks
from pine.distributed import torchrun as torchrun
