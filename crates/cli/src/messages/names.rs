//! Names of stored values, for people and for tables.

use std::sync::Arc;

use windlass::core::context::RecoveryStep;
use windlass::core::message::raw_json::RawJson;

use crate::terminal::escape_invisible;

/// The folder in which a rule for a command applies, as a suffix of a sentence.
pub(crate) fn within(folder: &str) -> String {
    match folder {
        "" => String::new(),
        folder => format!(" for the folder {}", escape_invisible(folder)),
    }
}

/// The name of a recovery step.
pub(crate) fn recovery_step_name(step: RecoveryStep) -> &'static str {
    match step {
        RecoveryStep::Compact => "R1, standard compaction",
        RecoveryStep::DeepPrune => "R2, deep prune",
        RecoveryStep::AskHuman => "R3, ask a human",
    }
}

/// The name under which a value is stored.
pub(crate) fn stored_name(value: &impl serde::Serialize) -> Arc<str> {
    Arc::from(RawJson::encode(value).text().trim_matches('"'))
}

/// The tag of an input or a record in the log, without the version.
pub(crate) fn record_tag(value: &impl serde::Serialize) -> String {
    let text = RawJson::encode(value);
    let tag = text.text().split('"').nth(1).unwrap_or_default();
    tag.split('/').next().unwrap_or_default().to_owned()
}
