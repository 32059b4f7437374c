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
    fields: [FieldText; 3],
    lists: [Vector<JournalEntry>; 5],
    version: u64,
    entries: u32,
}

/// The text of a field and the version it is of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct FieldText {
    text: Option<Arc<str>>,
    version: u64,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct JournalEntry {
    /// Its number, which no other entry of the journal has or will have.
    pub id: u32,
    /// What it says.
    pub text: Arc<str>,
    /// Whether it is done with.
    pub resolved: bool,
    /// The version of the journal that wrote it last.
    pub version: u64,
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

impl Field {
    /// As it is called in the rendered journal.
    #[must_use]
    pub fn title(self) -> &'static str {
        FIELDS.iter().find(|(field, _)| *field == self).map_or("", |(_, title)| title)
    }
}

impl List {
    /// All of them, in the order of the rendered journal.
    pub const ALL: [Self; 5] = [
        Self::VerifiedFindings,
        Self::Decisions,
        Self::Artifacts,
        Self::OpenQuestions,
        Self::Blockers,
    ];

    /// As it is called in the rendered journal.
    #[must_use]
    pub fn title(self) -> &'static str {
        LISTS.iter().find(|(list, _)| *list == self).map_or("", |(_, title)| title)
    }
}

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
    /// An entry says something else.
    Edit {
        /// Which.
        entry: u32,
        /// Its new text.
        text: Arc<str>,
    },
    /// An entry is done with; it stays to be read.
    Resolve {
        /// Which.
        entry: u32,
    },
    /// An entry is not done with after all.
    Reopen {
        /// Which.
        entry: u32,
    },
    /// An entry is taken out.
    Remove {
        /// Which.
        entry: u32,
    },
}

/// What a call wants of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// All of it.
    Read,
    /// These changes, in order, whatever was written before: the last writer wins.
    Change(Vec<Change>),
    /// These changes, if nothing that they touch was written after the version that was read.
    ChangeAsOf {
        /// The version that was read.
        version: u64,
        /// The changes, in order.
        changes: Vec<Change>,
    },
}

impl Wish {
    /// The changes that are wanted.
    #[must_use]
    pub fn changes(&self) -> Option<&[Change]> {
        match self {
            Self::Read => None,
            Self::Change(changes) | Self::ChangeAsOf { changes, .. } => Some(changes),
        }
    }
}

/// Why the journal was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// What is to be changed was written after the version that was read.
    #[error("{what} was changed in version {changed}, after version {read} which was read")]
    Changed {
        /// What is to be changed.
        what: String,
        /// The version that changed it.
        changed: u64,
        /// The version that was read.
        read: u64,
    },
    /// The journal has not come so far.
    #[error("there is no version {read}; the journal is at version {now}")]
    NoSuchVersion {
        /// The version that was read, as the caller says.
        read: u64,
        /// The newest.
        now: u64,
    },
    /// There is no such entry, or none any more.
    #[error("there is no entry #{entry}")]
    NoSuchEntry {
        /// Which.
        entry: u32,
    },
}

impl Journal {
    /// Makes a change; texts are cut to their bound. One to an entry that is not there changes
    /// nothing but the version.
    pub fn apply(&mut self, change: &Change) {
        self.version = self.version.saturating_add(1);
        let version = self.version;
        match change {
            Change::Set { field, text } => self.set(*field, text),
            Change::Append { list, text } => self.append(*list, text),
            Change::Edit { entry, text } => self.with_entry(*entry, |entry| {
                entry.text = bounded(text);
                entry.version = version;
            }),
            Change::Resolve { entry } => self.with_entry(*entry, |entry| {
                entry.resolved = true;
                entry.version = version;
            }),
            Change::Reopen { entry } => self.with_entry(*entry, |entry| {
                entry.resolved = false;
                entry.version = version;
            }),
            Change::Remove { entry: id } => {
                self.lists.iter_mut().for_each(|list| list.retain(|entry| entry.id != *id));
            }
        }
    }

    /// A field without words is empty again.
    fn set(&mut self, field: Field, text: &str) {
        if let Some(slot) = self.fields.get_mut(field as usize) {
            let text = (!text.trim().is_empty()).then(|| bounded(text));
            *slot = FieldText { text, version: self.version };
        }
    }

    fn append(&mut self, list: List, text: &str) {
        self.entries = self.entries.saturating_add(1);
        let (id, version) = (self.entries, self.version);
        let Some(entries) = self.lists.get_mut(list as usize) else { return };
        entries.push_back(JournalEntry { id, text: bounded(text), resolved: false, version });
        while entries.len() > LIST_ENTRIES {
            // What is done with gives way first.
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

    /// Whether these changes fit what `read`, a version of the journal, showed: nothing that they
    /// touch was written since, and the entries are there.
    pub fn check(&self, read: u64, changes: &[Change]) -> Result<(), Conflict> {
        if read > self.version {
            return Err(Conflict::NoSuchVersion { read, now: self.version });
        }
        changes.iter().try_for_each(|change| self.check_change(read, change))
    }

    fn check_change(&self, read: u64, change: &Change) -> Result<(), Conflict> {
        let (what, changed) = match change {
            Change::Append { .. } => return Ok(()),
            Change::Set { field, .. } => {
                let changed = self.fields.get(*field as usize).map_or(0, |slot| slot.version);
                (field.title().to_owned(), changed)
            }
            Change::Edit { entry, .. }
            | Change::Resolve { entry }
            | Change::Reopen { entry }
            | Change::Remove { entry } => {
                let found = self.entry(*entry).ok_or(Conflict::NoSuchEntry { entry: *entry })?;
                (format!("entry #{entry}"), found.version)
            }
        };
        if changed > read {
            return Err(Conflict::Changed { what, changed, read });
        }
        Ok(())
    }

    /// A field's text.
    #[must_use]
    pub fn field(&self, field: Field) -> Option<&str> {
        self.fields.get(field as usize)?.text.as_deref()
    }

    /// A list's entries, oldest first.
    pub fn list(&self, list: List) -> impl Iterator<Item = &JournalEntry> {
        self.lists.get(list as usize).into_iter().flatten()
    }

    /// The texts of a list's entries that are not resolved, oldest first.
    pub fn open(&self, list: List) -> impl DoubleEndedIterator<Item = &str> {
        let entries = self.lists.get(list as usize).into_iter().flatten();
        entries.filter(|entry| !entry.resolved).map(|entry| entry.text.as_ref())
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

    /// The whole journal as Markdown. Entries have their numbers, by which they can be changed.
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

    /// A few lines for the system prompt: objective, state, first open blocker, next action, and the
    /// latest findings. Empty without a journal. Each line has its share of the whole.
    #[must_use]
    pub fn digest(&self) -> String {
        let findings = self.open(List::VerifiedFindings).rev().take(DIGEST_FINDINGS);
        let latest = findings.map(|found| ("Found", Some(found)));
        let parts = [
            ("Objective", self.field(Field::Objective)),
            ("State", self.field(Field::CurrentState)),
            ("Blocker", self.open(List::Blockers).next()),
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
