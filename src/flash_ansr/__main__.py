"""``python -m flash_ansr`` is the command ``flash-ansr``."""

from flash_ansr.cli import main

if __name__ == "__main__":
    main()
