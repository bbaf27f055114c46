//! The validator of plans.
