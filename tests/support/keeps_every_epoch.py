"""`pine` whose trainings keep their state after every epoch: torchrun keeps_every_epoch.py ARGUMENTS"""

from __future__ import annotations

from pine.cli import fitting, main

if __name__ == "__main__":
    fitting.CHECKPOINT_EVERY = 0.0
    main()
