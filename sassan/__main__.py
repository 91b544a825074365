"""The entry point: `sassan` and `python -m sassan`."""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process; an interrupt while it is still loading ends as any other does."""
    try:
        from sassan.cli.main import main as command  # noqa: PLC0415 - inside, so that an interrupt of the import is caught

        command()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
