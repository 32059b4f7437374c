//! Small pieces of JSON that are parsed and written without a tree.

pub(crate) mod json_string;
pub(crate) mod json_writer;
pub(crate) mod object_fields;
