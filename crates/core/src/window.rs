//! What the model sees when the context fills up. Stages act only over their threshold, cheapest
//! first; each acts once as one record and begins a new generation of the prompt.
//!
//! Everything here looks at a transcript and proposes; nothing changes it.

pub mod ladder;
pub mod meter;
pub mod pins;
pub mod plan;
pub mod render;
pub mod settings;
pub mod stages;
mod tokens;
pub(crate) mod trial;

#[cfg(test)]
mod ladder_tests;
#[cfg(test)]
mod meter_tests;
#[cfg(test)]
mod render_tests;
#[cfg(test)]
mod stages_tests;
#[cfg(test)]
mod tokens_tests;

pub(crate) use tokens::count as count_tokens;

pub use ladder::{CompactionTrigger, Recoveries, Rung};
pub use meter::{BadThresholds, Meter, Pressure, Thresholds, Usable};
pub use plan::{Acts, CutPlan, Plan, StagePlan, plan};
pub use settings::{Summariser, Switch, Window};
pub use stages::{Rewrite, Stage};
