"""`python -m benchfw` is `benchfw`."""

from benchfw.cli import main

if __name__ == "__main__":
    main()
