//! Strategies and the event simulation.
