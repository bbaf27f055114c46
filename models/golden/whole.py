"""Writes <model>.txt for each .tflite file given, into whole/ or FOLDER: checksums of what the
reference computes.

    python whole.py [--into FOLDER] FILE.tflite ...
"""

import argparse
import hashlib
import pathlib
import subprocess
import sys

import numpy as np
from reference import Run, as_int8, crc

SEED = 7


def record(path):
    content = path.read_bytes()
    run = Run(content, SEED)
    lines = [f"sha256 {hashlib.sha256(content).hexdigest()}", f"seed {SEED}"]
    if any(as_int8(np.empty(0, detail["dtype"])) is None for detail in run.inputs):
        lines.append("float-input of bytes / 255")
    for name, values in run.results():
        values = as_int8(values)
        if values is not None and values.size:
            lines.append(f"tensor {crc(values):08x} {values.size} {name}")
    for detail in run.outputs:
        values = run.interpreter.get_tensor(detail["index"])
        integers = as_int8(values)
        if integers is None:
            lines.append(f"float-output {values.size} {detail['name']}")
        else:
            lines.append(f"output {crc(integers):08x} {values.size} {detail['name']}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=pathlib.Path, default=pathlib.Path(__file__).parent / "whole")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    folder = options.into
    folder.mkdir(exist_ok=True)
    if len(options.files) > 1:
        # The runtime crashes on some models: each has a process of its own.
        for path in options.files:
            if subprocess.run([sys.executable, __file__, "--into", folder, path]).returncode != 0:
                print(f"{path.name}: not recorded")
        return
    for path in options.files:
        text = record(path)
        if "\ntensor " in text or "\noutput " in text:
            (folder / f"{path.stem}.txt").write_text(text)
        print(f"{path.name}: {text.count('tensor ')} int8 tensors")


if __name__ == "__main__":
    main()
