//! Suites over models, boards and strategies.
