"""`python -m sassan` is `sassan`."""

from sassan.cli.app import main

main()
