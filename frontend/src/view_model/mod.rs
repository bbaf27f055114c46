//! What the page shows, computed without a browser: components only draw it.

pub mod catalogue;
pub mod cells;
pub mod compare;
pub mod decode;
pub mod desk;
pub mod energy_and_wear;
pub mod explore;
pub mod figures;
pub mod film;
pub mod findings;
pub mod firmware;
#[cfg(test)]
pub(crate) mod fixture;
pub mod float;
pub mod fragment;
pub mod graph;
pub mod hot;
pub mod layers;
pub mod lessons;
pub mod memory;
pub mod output_map;
pub mod overview;
pub mod papers;
pub mod quantisation;
pub mod remedies;
pub mod roofline;
pub mod run;
pub mod schedule;
pub mod search;
pub mod sparsity;
pub mod steps;
pub mod strategies;
pub mod tiles;
pub mod timeline;
pub mod what_fits;
pub mod zoo;
