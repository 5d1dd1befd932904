"""The program `coalesce` of this package, in place of this process."""

import os
import subprocess
import sys

from coalesce_gpu import program


def main() -> None:
    line = [str(program()), *sys.argv[1:]]
    if sys.platform == "win32":
        # An exec of Windows returns to the shell before the program has ended.
        sys.exit(subprocess.call(line))
    os.execv(line[0], line)


if __name__ == "__main__":
    main()
