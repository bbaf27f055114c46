"""Puts every .tflite file of a folder in another order (`tilewright order FILE -o NEW`) and runs old and new file in
TensorFlow Lite and in TensorFlow Lite Micro: outputs must be equal bit for bit, and the arena is what the runtime says.

    python reordered.py FOLDER [path of the tilewright program]

Prints a table; ends with 1 if an output differs or an arena is larger than planned.
"""

import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROUNDS = 3
ARENA_BYTES = 256 << 20


def draw(round, number, shape, dtype):
    """Inputs of a round: any bytes as integers, floats between -1 and 1."""
    rng = np.random.default_rng([round, number])
    if np.issubdtype(dtype, np.floating):
        return rng.uniform(-1, 1, shape).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -(1 << 15)), min(limits.max, 1 << 15) + 1, shape).astype(dtype)


def in_lite(path):
    """Outputs in TensorFlow Lite, without delegates."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(str(path), experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()
    results = []
    for round in range(ROUNDS):
        for number, detail in enumerate(interpreter.get_input_details()):
            interpreter.set_tensor(detail["index"], draw(round, number, detail["shape"], detail["dtype"]))
        interpreter.invoke()
        results += [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    return [values.tobytes().hex() for values in results]


def in_micro(path):
    """Outputs in TensorFlow Lite Micro, and its arena: activations ("head") and scratch together."""
    from tflite_micro.python.tflite_micro import runtime

    said, told = os.pipe()
    keep = os.dup(2)
    os.dup2(told, 2)
    try:
        config = runtime.InterpreterConfig.kAllocationRecording
        interpreter = runtime.Interpreter.from_file(str(path), arena_size=ARENA_BYTES, intrepreter_config=config)
        interpreter.print_allocations()
    finally:
        os.dup2(keep, 2)
        os.close(told)
    head = int(re.search(r"Arena allocation head (\d+)", os.read(said, 1 << 16).decode()).group(1))
    inputs = list(details(interpreter.get_input_details))
    outputs = len(list(details(interpreter.get_output_details)))
    results = []
    for round in range(ROUNDS):
        for number, detail in enumerate(inputs):
            interpreter.set_input(draw(round, number, detail["shape"], np.dtype(detail["dtype"])), number)
        interpreter.invoke()
        results += [interpreter.get_output(number) for number in range(outputs)]
    return {"head": head, "outputs": [values.tobytes().hex() for values in results]}


def details(get):
    """What the runtime says of tensor 0, 1 … until there is none."""
    for number in itertools.count():
        try:
            yield get(number)
        except (IndexError, RuntimeError, ValueError):
            return


def apart(task, *words):
    """The result of a task in a process of its own, since runtimes end theirs on some files; nothing then."""
    done = subprocess.run([sys.executable, __file__, task, *map(str, words)], capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def word(old, new):
    if old is None or new is None:
        return "does not run" if old is None else "NEW DOES NOT RUN"
    return "equal" if old == new else "DIFFERENT"


def compare(path, program, folder):
    new = pathlib.Path(folder) / path.name
    done = subprocess.run([program, "order", path, "-o", new, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"{path.name}: refused: {done.stderr.splitlines()[0]}", True
    report = json.loads(done.stdout)
    lite = word(apart("lite", path), apart("lite", new))
    old, changed = apart("micro", path), apart("micro", new)
    micro = word(old and old["outputs"], changed and changed["outputs"])
    head = [f"{result['head']:,}" if result else "–" for result in (old, changed)]
    fits = not old or not changed or changed["head"] <= max(old["head"], report["arena_bytes"])
    proof = "proved" if report["proved"] else f"bound {report['lower_bound_bytes']:,}"
    line = (
        f"| {path.name} | {report['moved']} of {report['operators']} | {report['default_bytes']:,} → "
        f"{report['arena_bytes']:,} | {proof} | {head[0]} → {head[1]} | {lite} | {micro} |"
    )
    return line, fits and "DIFFERENT" not in line and "NEW DOES" not in line


def main():
    task = sys.argv[1]
    if task in ("lite", "micro"):
        print(json.dumps({"lite": in_lite, "micro": in_micro}[task](pathlib.Path(sys.argv[2]))))
        return
    program = sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2] / "target/release/tilewright"
    print("| model | operators moved | arena, modelled → planned | | TFLM says | TFLite | TFLM |\n|---|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(pathlib.Path(task).glob("*.tflite")):
            line, fine = compare(path, program, folder)
            good &= fine
            print(line, flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
