//! int8 kernels and their weight packing.
