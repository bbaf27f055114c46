//! Register-level devices in virtual time.
