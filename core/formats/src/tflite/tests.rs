mod build;
mod faults;
mod files;
mod foreign;
mod golden;
mod reorder;
mod variables;
