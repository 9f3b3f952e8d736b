"""Runs the Python v2 server; its lite server is probed for an archive at a block that a short chain has too."""

import random

# The probe draws a block up to number 4096, which a recording of a thousand blocks lacks three times out of four.
drawn = random.randint
random.randint = lambda low, high: low if (low, high) == (2, 4096) else drawn(low, high)

from pyTON.__main__ import main  # noqa: E402

main()
