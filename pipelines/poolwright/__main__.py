"""`python -m poolwright`."""

from poolwright.cli.main import main

main()
