//! The completion gate: what must be true before an answer is accepted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::prompt_texts::frequency;

/// The requirements for an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CompletionGate {
    /// Tools that must have succeeded this often in the run.
    pub checklist: Vec<ChecklistItem>,
    /// A command that must succeed; it is run like a hook.
    pub command: Option<Arc<str>>,
    /// What a judge must find to be true of the answer, in free words. The judge is a model that is
    /// called in a side request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Arc<str>>,
}

/// A tool and how often it must have succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChecklistItem {
    /// The tool; of several joined by `|` any counts, as in `Write|Edit`.
    pub tool: Arc<str>,
    /// The minimum number of successful calls.
    pub at_least: u32,
}

impl ChecklistItem {
    /// Returns the tools whose calls count.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tool.split('|').map(str::trim)
    }
}

/// The tool through which a structured answer is given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructuredOutputTool {
    /// Name of the tool; its schema is the schema of the answer.
    pub tool: Arc<str>,
}

/// How often the tools of a checklist have succeeded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ChecklistProgress(Vec<(Arc<str>, u32)>);

impl ChecklistProgress {
    /// Counts one more successful call of `tool`.
    pub fn record_success(&mut self, tool: &Arc<str>) {
        match self.0.iter_mut().find(|(name, _)| name == tool) {
            Some((_, times)) => *times = times.saturating_add(1),
            None => self.0.push((tool.clone(), 1)),
        }
    }

    fn success_count(&self, need: &ChecklistItem) -> u32 {
        let counted = self.0.iter().filter(|(name, _)| need.tools().any(|tool| tool == &**name));
        counted.fold(0, |sum: u32, (_, times)| sum.saturating_add(*times))
    }
}

impl CompletionGate {
    /// Returns whether calls of this tool are counted.
    #[must_use]
    pub fn is_in_checklist(&self, tool: &str) -> bool {
        self.checklist.iter().any(|need| need.tools().any(|counted| counted == tool))
    }

    /// Returns what is missing of the checklist, as a sentence for the model.
    #[must_use]
    pub fn missing_items(&self, done: &ChecklistProgress) -> Option<String> {
        let short = self.checklist.iter().filter(|need| done.success_count(need) < need.at_least);
        let short: Vec<String> = short
            .map(|need| {
                let tools = need.tools().collect::<Vec<_>>().join(" or ");
                let (least, so_far) =
                    (frequency(need.at_least), frequency(done.success_count(need)));
                format!("{tools} must succeed at least {least} (so far {so_far})")
            })
            .collect();
        (!short.is_empty()).then(|| format!("the work is not complete: {}", short.join(", ")))
    }
}
