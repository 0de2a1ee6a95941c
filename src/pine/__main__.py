"""`python -m pine` is the command line too."""

from pine.cli import main

main()
