//! Programs of images built by hand.

mod console;
mod image;
mod lenet;
mod run;
