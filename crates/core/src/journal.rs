//! The run journal: working memory a model writes on purpose, apart from the transcript. It belongs
//! to the conversation, survives every halt and compaction, and is what a person sees first when a
//! run failed.

use std::fmt::Write;
use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use crate::cut;

/// Characters of one entry or field.
const ENTRY_CHARS: u64 = 2_000;

/// Entries of one list; the oldest give way.
const LIST_ENTRIES: usize = 100;

/// Characters of the digest.
const DIGEST_CHARS: usize = 500;

/// Findings the digest shows.
const DIGEST_FINDINGS: usize = 3;

/// The journal of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Journal {
    fields: [Option<Arc<str>>; 3],
    lists: [Vector<Arc<str>>; 5],
    version: u64,
}

/// A field that holds one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// What the work is for, in the model's own words.
    Objective,
    /// Where the work is right now.
    CurrentState,
    /// What should happen next if it stops here.
    HandoffNextAction,
}

/// A section that holds a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    /// What was confirmed.
    VerifiedFindings,
    /// What was chosen, and why.
    Decisions,
    /// Where the products are.
    Artifacts,
    /// What is not settled.
    OpenQuestions,
    /// What stands in the way.
    Blockers,
}

const FIELDS: [(Field, &str); 3] = [
    (Field::Objective, "Objective"),
    (Field::CurrentState, "Current state"),
    (Field::HandoffNextAction, "Next action"),
];

const LISTS: [(List, &str); 5] = [
    (List::VerifiedFindings, "Verified findings"),
    (List::Decisions, "Decisions"),
    (List::Artifacts, "Artifacts"),
    (List::OpenQuestions, "Open questions"),
    (List::Blockers, "Blockers"),
];

/// A change to the journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A field has a new text; the last writer wins.
    Set {
        /// Which.
        field: Field,
        /// Its text.
        text: Arc<str>,
    },
    /// A list has one entry more.
    Append {
        /// Which.
        list: List,
        /// The entry.
        text: Arc<str>,
    },
}

/// What a call wants of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// All of it.
    Read,
    /// These changes, in order.
    Change(Vec<Change>),
}

impl Journal {
    /// Makes a change; texts are cut to their bound.
    pub fn apply(&mut self, change: &Change) {
        self.version = self.version.saturating_add(1);
        match change {
            Change::Set { field, text } => {
                if let Some(slot) = self.fields.get_mut(*field as usize) {
                    *slot = Some(bounded(text));
                }
            }
            Change::Append { list, text } => {
                if let Some(entries) = self.lists.get_mut(*list as usize) {
                    entries.push_back(bounded(text));
                    while entries.len() > LIST_ENTRIES {
                        entries.pop_front();
                    }
                }
            }
        }
    }

    /// A field's text.
    #[must_use]
    pub fn field(&self, field: Field) -> Option<&str> {
        self.fields.get(field as usize)?.as_deref()
    }

    /// A list's entries, oldest first.
    pub fn list(&self, list: List) -> impl Iterator<Item = &str> {
        self.lists.get(list as usize).into_iter().flatten().map(AsRef::as_ref)
    }

    /// How often it was changed.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether nothing was written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.version == 0
    }

    /// The whole journal as Markdown.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::from("# Run journal\n");
        for (field, title) in FIELDS {
            if let Some(text) = self.field(field) {
                let _ = write!(out, "\n## {title}\n{text}\n");
            }
        }
        for (list, title) in LISTS {
            if self.list(list).next().is_some() {
                let _ = write!(out, "\n## {title}\n");
                for entry in self.list(list) {
                    let _ = writeln!(out, "- {entry}");
                }
            }
        }
        out
    }

    /// A few lines for the system prompt: objective, state, first blocker, next action, and the
    /// latest findings. Empty without a journal. Each line has its share of the whole.
    #[must_use]
    pub fn digest(&self) -> String {
        let findings: Vec<&str> = self.list(List::VerifiedFindings).collect();
        let latest =
            findings.iter().rev().take(DIGEST_FINDINGS).map(|found| ("Found", Some(*found)));
        let parts = [
            ("Objective", self.field(Field::Objective)),
            ("State", self.field(Field::CurrentState)),
            ("Blocker", self.list(List::Blockers).next()),
            ("Next", self.field(Field::HandoffNextAction)),
        ];
        let said = parts.into_iter().chain(latest).filter_map(|(title, text)| Some((title, text?)));
        let lines: Vec<String> = said.map(|(title, text)| format!("{title}: {text}")).collect();
        let share = (DIGEST_CHARS / lines.len().max(1)).saturating_sub(1);
        let whole: Vec<String> = lines.iter().map(|text| cut::line(text, usize::MAX)).collect();
        if whole.join("\n").chars().count() <= DIGEST_CHARS {
            return whole.join("\n");
        }
        lines.iter().map(|text| cut::line(text, share)).collect::<Vec<_>>().join("\n")
    }

    /// What a person who takes over should know first.
    #[must_use]
    pub fn handoff(&self) -> Handoff<'_> {
        Handoff {
            objective: self.field(Field::Objective),
            state: self.field(Field::CurrentState),
            next_action: self.field(Field::HandoffNextAction),
        }
    }
}

/// What a person who takes over should know first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Handoff<'a> {
    /// What the work was for.
    pub objective: Option<&'a str>,
    /// How far it came.
    pub state: Option<&'a str>,
    /// What should happen next.
    pub next_action: Option<&'a str>,
}

fn bounded(text: &str) -> Arc<str> {
    Arc::from(cut::text(text, ENTRY_CHARS).as_ref())
}
