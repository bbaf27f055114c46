"""Has our float interpreter run the files of a folder, and says what came of them."""

import subprocess
from collections import Counter


def outcomes(folder):
    """How many files are equal, differ or are refused; prints what is said of those that are not equal."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "tilewright-formats", "--example", "node_tests", "--", folder]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = Counter()
    for line in lines:
        name, outcome, *message = line.split("\t")
        found[outcome] += 1
        if outcome != "equal":
            print(f"{outcome:8} {name}: {' '.join(message)}")
    return found


def in_words(found):
    return f"{found.total()} files: {', '.join(f'{count} {outcome}' for outcome, count in found.most_common())}"
