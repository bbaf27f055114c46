//! The tilewright program.
