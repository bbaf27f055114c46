//! Plan images and firmware images.
