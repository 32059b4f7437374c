//! The completion gate: what must have happened before an answer counts as finished.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::words::frequency;

/// What an answer must fulfil.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// Tools that must have worked this often in the run.
    pub checklist: Vec<Need>,
    /// A command that must succeed; it is run like a hook.
    pub command: Option<Arc<str>>,
    /// What a judge must find to be true of it, in free words. The judge is a model that is asked
    /// beside the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Arc<str>>,
}

/// A tool and how often it must have worked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Which tool; of several joined by `|` any counts, as in `Write|Edit`.
    pub tool: Arc<str>,
    /// How often at least.
    pub at_least: u32,
}

impl Need {
    /// The tools whose calls count.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tool.split('|').map(str::trim)
    }
}

/// The tool through which an answer that fits a schema is given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Its name; its schema is the answer's.
    pub tool: Arc<str>,
}

/// How often the tools of a checklist have worked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Done(Vec<(Arc<str>, u32)>);

impl Done {
    /// One more call of `tool` worked.
    pub fn count(&mut self, tool: &Arc<str>) {
        match self.0.iter_mut().find(|(name, _)| name == tool) {
            Some((_, times)) => *times = times.saturating_add(1),
            None => self.0.push((tool.clone(), 1)),
        }
    }

    fn times(&self, need: &Need) -> u32 {
        let counted = self.0.iter().filter(|(name, _)| need.tools().any(|tool| tool == &**name));
        counted.fold(0, |sum: u32, (_, times)| sum.saturating_add(*times))
    }
}

impl Gate {
    /// Whether calls of this tool are counted.
    #[must_use]
    pub fn counts(&self, tool: &str) -> bool {
        self.checklist.iter().any(|need| need.tools().any(|counted| counted == tool))
    }

    /// What is missing of the checklist, as a sentence for the model.
    #[must_use]
    pub fn missing(&self, done: &Done) -> Option<String> {
        let short = self.checklist.iter().filter(|need| done.times(need) < need.at_least);
        let short: Vec<String> = short
            .map(|need| {
                let tools = need.tools().collect::<Vec<_>>().join(" or ");
                let (least, so_far) = (frequency(need.at_least), frequency(done.times(need)));
                format!("{tools} must succeed at least {least} (so far {so_far})")
            })
            .collect();
        (!short.is_empty()).then(|| format!("the work is not complete: {}", short.join(", ")))
    }
}
