//! Starts, limits and kills workers.
