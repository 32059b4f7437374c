//! Trust in folders: what the settings of a folder may run or allow, and whether the user agreed to
//! it.

mod command_texts;
pub(crate) mod folder_trust;
pub(crate) mod ignored_settings;
pub(crate) mod project_grants;
pub(crate) mod project_rules;
pub(crate) mod trust_file;
