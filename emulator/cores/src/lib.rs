//! Thumb-2 decoding and pipeline models.
