//! Processes of the campaign: children, orphans, and the guard that ends them all.

pub(crate) mod child;
pub(crate) mod child_registry;
pub(crate) mod clock;
pub(crate) mod folder_guard;
pub(crate) mod process_table;
