"""`python -m saddlescope`."""

from saddlescope.cli import main

if __name__ == "__main__":
    main()
