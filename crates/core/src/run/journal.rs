//! The run journal: working memory that the model writes deliberately, apart from the transcript.
//! It belongs to the conversation, survives every pause and compaction, and is what a human sees
//! first when a run failed.

use std::fmt::Write;
use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use crate::message::truncate;

/// Characters of one entry or field.
const MAX_ENTRY_CHARS: u64 = 2_000;

/// Entries of one list; the oldest are removed.
const MAX_LIST_ENTRIES: usize = 100;

/// Characters of the digest.
const MAX_DIGEST_CHARS: usize = 500;

/// Number of findings in the digest.
const DIGEST_FINDINGS: usize = 3;

/// The journal of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Journal {
    fields: [FieldText; 3],
    lists: [Vector<JournalEntry>; 5],
    version: u64,
    entries: u32,
}

/// The text of a field and the version that wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct FieldText {
    text: Option<Arc<str>>,
    version: u64,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct JournalEntry {
    /// Id of the entry, unique in the journal and never reused.
    pub id: u32,
    /// Text of the entry.
    pub text: Arc<str>,
    /// Whether the entry is resolved.
    pub resolved: bool,
    /// The version of the journal that wrote the entry last.
    pub version: u64,
}

/// A field with one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalField {
    /// The goal of the work, in the model's own words.
    Objective,
    /// The current state of the work.
    CurrentState,
    /// What should happen next if the run stops here.
    HandoffNextAction,
}

/// A section with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalList {
    /// What was confirmed.
    VerifiedFindings,
    /// What was decided, and why.
    Decisions,
    /// Where the products of the work are.
    Artifacts,
    /// What is not decided.
    OpenQuestions,
    /// What blocks the work.
    Blockers,
}

const FIELDS: [(JournalField, &str); 3] = [
    (JournalField::Objective, "Objective"),
    (JournalField::CurrentState, "Current state"),
    (JournalField::HandoffNextAction, "Next action"),
];

const LISTS: [(JournalList, &str); 5] = [
    (JournalList::VerifiedFindings, "Verified findings"),
    (JournalList::Decisions, "Decisions"),
    (JournalList::Artifacts, "Artifacts"),
    (JournalList::OpenQuestions, "Open questions"),
    (JournalList::Blockers, "Blockers"),
];

impl JournalField {
    /// Returns the title in the rendered journal.
    #[must_use]
    pub fn title(self) -> &'static str {
        FIELDS.iter().find(|(field, _)| *field == self).map_or("", |(_, title)| title)
    }
}

impl JournalList {
    /// All lists, in the order of the rendered journal.
    pub const ALL: [Self; 5] = [
        Self::VerifiedFindings,
        Self::Decisions,
        Self::Artifacts,
        Self::OpenQuestions,
        Self::Blockers,
    ];

    /// Returns the title in the rendered journal.
    #[must_use]
    pub fn title(self) -> &'static str {
        LISTS.iter().find(|(list, _)| *list == self).map_or("", |(_, title)| title)
    }
}

/// A change to the journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalChange {
    /// A field gets a new text; the last writer wins.
    Set {
        /// The field.
        field: JournalField,
        /// The new text.
        text: Arc<str>,
    },
    /// An entry is appended to a list.
    Append {
        /// The list.
        list: JournalList,
        /// Text of the entry.
        text: Arc<str>,
    },
    /// The text of an entry is changed.
    Edit {
        /// Id of the entry.
        entry: u32,
        /// The new text.
        text: Arc<str>,
    },
    /// An entry is resolved; it stays readable.
    Resolve {
        /// Id of the entry.
        entry: u32,
    },
    /// A resolved entry is opened again.
    Reopen {
        /// Id of the entry.
        entry: u32,
    },
    /// An entry is removed.
    Remove {
        /// Id of the entry.
        entry: u32,
    },
}

/// The journal request of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalRequest {
    /// Read the whole journal.
    Read,
    /// Make these changes, in order, whatever was written before: the last writer wins.
    Change(Vec<JournalChange>),
    /// Make these changes, if nothing that they touch was written after the version that was read.
    ChangeIfUnmodified {
        /// The version that was read.
        version: u64,
        /// The changes, in order.
        changes: Vec<JournalChange>,
    },
}

impl JournalRequest {
    /// Returns the requested changes.
    #[must_use]
    pub fn changes(&self) -> Option<&[JournalChange]> {
        match self {
            Self::Read => None,
            Self::Change(changes) | Self::ChangeIfUnmodified { changes, .. } => Some(changes),
        }
    }
}

/// Why the journal was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalConflict {
    /// The target was written after the version that was read.
    #[error("{what} was changed in version {changed}, after version {read} was read")]
    Changed {
        /// The target of the change.
        what: String,
        /// The version that changed the target.
        changed: u64,
        /// The version that was read.
        read: u64,
    },
    /// The journal has no such version yet.
    #[error("there is no version {read}; the journal is at version {now}")]
    NoSuchVersion {
        /// The version that was read, as the caller states.
        read: u64,
        /// The newest version.
        now: u64,
    },
    /// The entry does not exist, or no longer.
    #[error("there is no entry #{entry}")]
    NoSuchEntry {
        /// Id of the entry.
        entry: u32,
    },
}

impl Journal {
    /// Applies a change; texts are truncated to their limit. A change to a missing entry changes
    /// only the version.
    pub fn apply(&mut self, change: &JournalChange) {
        self.version = self.version.saturating_add(1);
        let version = self.version;
        match change {
            JournalChange::Set { field, text } => self.set(*field, text),
            JournalChange::Append { list, text } => self.append(*list, text),
            JournalChange::Edit { entry, text } => self.with_entry(*entry, |entry| {
                entry.text = truncate_entry(text);
                entry.version = version;
            }),
            JournalChange::Resolve { entry } => self.with_entry(*entry, |entry| {
                entry.resolved = true;
                entry.version = version;
            }),
            JournalChange::Reopen { entry } => self.with_entry(*entry, |entry| {
                entry.resolved = false;
                entry.version = version;
            }),
            JournalChange::Remove { entry: id } => {
                self.lists.iter_mut().for_each(|list| list.retain(|entry| entry.id != *id));
            }
        }
    }

    /// Sets a field. A blank text clears the field.
    fn set(&mut self, field: JournalField, text: &str) {
        if let Some(slot) = self.fields.get_mut(field as usize) {
            let text = (!text.trim().is_empty()).then(|| truncate_entry(text));
            *slot = FieldText { text, version: self.version };
        }
    }

    fn append(&mut self, list: JournalList, text: &str) {
        self.entries = self.entries.saturating_add(1);
        let (id, version) = (self.entries, self.version);
        let Some(entries) = self.lists.get_mut(list as usize) else { return };
        entries.push_back(JournalEntry {
            id,
            text: truncate_entry(text),
            resolved: false,
            version,
        });
        while entries.len() > MAX_LIST_ENTRIES {
            // Resolved entries are removed first.
            let oldest = entries.iter().position(|entry| entry.resolved).unwrap_or(0);
            entries.remove(oldest);
        }
    }

    fn with_entry(&mut self, id: u32, change: impl FnOnce(&mut JournalEntry)) {
        let mut entries = self.lists.iter_mut().flat_map(|list| list.iter_mut());
        if let Some(entry) = entries.find(|entry| entry.id == id) {
            change(entry);
        }
    }

    fn entry(&self, id: u32) -> Option<&JournalEntry> {
        self.lists.iter().flatten().find(|entry| entry.id == id)
    }

    /// Checks these changes against `read`, the version that the caller saw: nothing that they
    /// touch was written since, and the entries exist.
    pub fn check_version(
        &self,
        read: u64,
        changes: &[JournalChange],
    ) -> Result<(), JournalConflict> {
        if read > self.version {
            return Err(JournalConflict::NoSuchVersion { read, now: self.version });
        }
        changes.iter().try_for_each(|change| self.check_change(read, change))
    }

    fn check_change(&self, read: u64, change: &JournalChange) -> Result<(), JournalConflict> {
        let (what, changed) = match change {
            JournalChange::Append { .. } => return Ok(()),
            JournalChange::Set { field, .. } => {
                let changed = self.fields.get(*field as usize).map_or(0, |slot| slot.version);
                (field.title().to_owned(), changed)
            }
            JournalChange::Edit { entry, .. }
            | JournalChange::Resolve { entry }
            | JournalChange::Reopen { entry }
            | JournalChange::Remove { entry } => {
                let found =
                    self.entry(*entry).ok_or(JournalConflict::NoSuchEntry { entry: *entry })?;
                (format!("entry #{entry}"), found.version)
            }
        };
        if changed > read {
            return Err(JournalConflict::Changed { what, changed, read });
        }
        Ok(())
    }

    /// Returns the text of a field.
    #[must_use]
    pub fn field(&self, field: JournalField) -> Option<&str> {
        self.fields.get(field as usize)?.text.as_deref()
    }

    /// Returns the entries of a list, oldest first.
    pub fn list(&self, list: JournalList) -> impl Iterator<Item = &JournalEntry> {
        self.lists.get(list as usize).into_iter().flatten()
    }

    /// Returns the texts of a list's entries that are not resolved, oldest first.
    pub fn open_entries(&self, list: JournalList) -> impl DoubleEndedIterator<Item = &str> {
        let entries = self.lists.get(list as usize).into_iter().flatten();
        entries.filter(|entry| !entry.resolved).map(|entry| entry.text.as_ref())
    }

    /// Returns how often the journal was changed.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns whether nothing was written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.version == 0
    }

    /// Renders the whole journal as Markdown. Entries have their ids, by which they can be changed.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = format!("# Run journal (version {})\n", self.version);
        for (field, title) in FIELDS {
            if let Some(text) = self.field(field) {
                let _ = write!(out, "\n## {title}\n{text}\n");
            }
        }
        for (list, title) in LISTS {
            if self.list(list).next().is_some() {
                let _ = write!(out, "\n## {title}\n");
                for JournalEntry { id, text, resolved, .. } in self.list(list) {
                    let resolved = if *resolved { " (resolved)" } else { "" };
                    let _ = writeln!(out, "- #{id}{resolved} {text}");
                }
            }
        }
        out
    }

    /// Returns a few lines for the system prompt: objective, state, first open blocker, next
    /// action, and the latest findings. Empty without a journal. Each line has its share of the
    /// limit.
    #[must_use]
    pub fn digest(&self) -> String {
        let findings = self.open_entries(JournalList::VerifiedFindings).rev().take(DIGEST_FINDINGS);
        let latest = findings.map(|found| ("Found", Some(found)));
        let parts = [
            ("Objective", self.field(JournalField::Objective)),
            ("State", self.field(JournalField::CurrentState)),
            ("Blocker", self.open_entries(JournalList::Blockers).next()),
            ("Next", self.field(JournalField::HandoffNextAction)),
        ];
        let said = parts.into_iter().chain(latest).filter_map(|(title, text)| Some((title, text?)));
        let lines: Vec<String> = said.map(|(title, text)| format!("{title}: {text}")).collect();
        let share = (MAX_DIGEST_CHARS / lines.len().max(1)).saturating_sub(1);
        let whole: Vec<String> =
            lines.iter().map(|text| truncate::truncate_line(text, usize::MAX)).collect();
        if whole.join("\n").chars().count() <= MAX_DIGEST_CHARS {
            return whole.join("\n");
        }
        lines.iter().map(|text| truncate::truncate_line(text, share)).collect::<Vec<_>>().join("\n")
    }

    /// Returns what a human who takes over should know first.
    #[must_use]
    pub fn handoff(&self) -> JournalHandoff<'_> {
        JournalHandoff {
            objective: self.field(JournalField::Objective),
            state: self.field(JournalField::CurrentState),
            next_action: self.field(JournalField::HandoffNextAction),
        }
    }
}

/// What a human who takes over should know first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JournalHandoff<'a> {
    /// The goal of the work.
    pub objective: Option<&'a str>,
    /// The current state of the work.
    pub state: Option<&'a str>,
    /// What should happen next.
    pub next_action: Option<&'a str>,
}

fn truncate_entry(text: &str) -> Arc<str> {
    Arc::from(truncate::truncate_text(text, MAX_ENTRY_CHARS).as_ref())
}
