mod build;
mod faults;
mod files;
mod golden;
mod reorder;
mod variables;
