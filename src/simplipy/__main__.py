"""``python -m simplipy``: the command line."""

from simplipy.cli import main

if __name__ == "__main__":
    main()
