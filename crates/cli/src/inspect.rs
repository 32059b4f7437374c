//! Inspection of stored runs. Everything here reads; nothing decides or writes. The commands choose
//! what is read and how it is printed.

pub(crate) mod compaction_report;
pub(crate) mod damage_report;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub(crate) mod event_log;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod id_lookup;
pub(crate) mod iteration_trace;
pub(crate) mod journal_view;
pub(crate) mod model_list;
pub(crate) mod open_questions;
pub(crate) mod pending_run;
pub(crate) mod raw_responses;
pub(crate) mod run_activity;
pub(crate) mod run_list;
pub(crate) mod stats;
pub(crate) mod timeline;
pub(crate) mod worker_status;
