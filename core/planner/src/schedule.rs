//! From cut layers to a plan: what lies where, what happens in which order, and the steps of all lanes.
//!
//! A strategy says in numbers how operators ([`operator`]) are cut ([`cut`]) into tasks of the core and what they need
//! in SRAM ([`work`]). Layouts give that places there ([`place`]); [`room`] finds those that are free earliest. [`issue`] puts tasks and moves into one order, the
//! [`sequence`], with all addresses. [`emit`] makes lanes of steps of it, which wait for each other where they touch
//! the same bytes ([`hazards`]). [`boot`] brings what stays.

pub mod boot;
pub mod cut;
pub mod emit;
pub mod hazards;
pub mod issue;
pub mod operator;
pub mod place;
pub mod room;
pub mod sequence;
pub mod work;
