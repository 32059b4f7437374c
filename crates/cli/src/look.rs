//! Looking back: what a log tells of what happened. Everything here reads and nothing judges; the
//! commands choose what to look at and how it is shown.

pub(crate) mod acts;
pub(crate) mod age;
pub(crate) mod args;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub(crate) mod explain;
pub(crate) mod find;
pub(crate) mod journal;
pub(crate) mod local;
pub(crate) mod logs;
pub(crate) mod models;
pub(crate) mod numbers;
pub(crate) mod paper;
pub(crate) mod pending;
pub(crate) mod raw;
pub(crate) mod room;
pub(crate) mod runs;
pub(crate) mod scenes;
pub(crate) mod stats;
pub(crate) mod story;
pub(crate) mod time;
pub(crate) mod trace;
pub(crate) mod waiting;
pub(crate) mod whole;
pub(crate) mod words;
