"""`python -m pine`, and the script `pine`: signals are handled before anything that takes time is imported."""

import signal

from pine._internal.signals import SIGNALS, end_at_once

for number in SIGNALS:
    signal.signal(number, end_at_once)

from pine.cli import main as main  # noqa: E402

if __name__ == "__main__":
    main()
