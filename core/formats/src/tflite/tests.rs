mod build;
mod faults;
mod files;
mod foreign;
mod golden;
mod outputs;
mod reorder;
mod variables;
