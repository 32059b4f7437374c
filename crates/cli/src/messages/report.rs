//! Headings, labels and sentences of the commands that inspect runs.

pub(crate) mod advice;
pub(crate) mod compaction;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod explain_facts;
pub(crate) mod stats;
pub(crate) mod trace;
