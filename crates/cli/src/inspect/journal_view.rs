//! The current run journal, as text and as JSON.

use serde::Serialize;
use windlass::core::run::journal::{JournalEntry, JournalField, JournalList};

use super::history::ConversationHistory;
use crate::terminal::{Color, OutputStyle, sanitize_line};

const SHOWN_FIELDS: [JournalField; 3] =
    [JournalField::Objective, JournalField::CurrentState, JournalField::HandoffNextAction];

#[derive(Serialize)]
struct JournalJson<'a> {
    conversation: &'a str,
    version: u64,
    objective: Option<&'a str>,
    current_state: Option<&'a str>,
    handoff_next_action: Option<&'a str>,
    verified_findings: Vec<&'a JournalEntry>,
    decisions: Vec<&'a JournalEntry>,
    artifacts: Vec<&'a JournalEntry>,
    open_questions: Vec<&'a JournalEntry>,
    blockers: Vec<&'a JournalEntry>,
}

/// Serializes the journal as one JSON object; each list with its entries, resolved ones too.
pub(crate) fn journal_json(history: &ConversationHistory) -> anyhow::Result<String> {
    let journal = &history.conversation.journal;
    Ok(serde_json::to_string(&JournalJson {
        conversation: history.lane.as_str(),
        version: journal.version(),
        objective: journal.field(JournalField::Objective),
        current_state: journal.field(JournalField::CurrentState),
        handoff_next_action: journal.field(JournalField::HandoffNextAction),
        verified_findings: journal.list(JournalList::VerifiedFindings).collect(),
        decisions: journal.list(JournalList::Decisions).collect(),
        artifacts: journal.list(JournalList::Artifacts).collect(),
        open_questions: journal.list(JournalList::OpenQuestions).collect(),
        blockers: journal.list(JournalList::Blockers).collect(),
    })?)
}

/// Renders the journal as lines that fit the terminal.
pub(crate) fn journal_lines(history: &ConversationHistory, style: OutputStyle) -> Vec<String> {
    let journal = &history.conversation.journal;
    let name = sanitize_line(history.lane.as_str());
    if journal.is_empty() {
        return vec![format!(
            "The journal of {name} is empty: the model writes it with update_run_journal."
        )];
    }
    let title = format!("Run journal of {name} (version {})", journal.version());
    let mut lines = vec![style.paint(Color::Bold, &title)];
    for field in SHOWN_FIELDS {
        if let Some(text) = journal.field(field) {
            lines.push(String::new());
            lines.push(style.paint(Color::Bold, field.title()));
            lines.push(style.wrap(&sanitize_line(text), 2));
        }
    }
    for list in JournalList::ALL {
        let entries: Vec<String> =
            journal.list(list).map(|entry| format_entry(entry, style)).collect();
        if !entries.is_empty() {
            lines.push(String::new());
            lines.push(style.paint(Color::Bold, list.title()));
            lines.extend(entries);
        }
    }
    lines
}

fn format_entry(entry: &JournalEntry, style: OutputStyle) -> String {
    let JournalEntry { id, text, resolved, .. } = entry;
    let mark = if *resolved { " (resolved)" } else { "" };
    let text = style.wrap(&format!("#{id}{mark} {}", sanitize_line(text)), 2);
    if *resolved { style.paint(Color::Dim, &text) } else { text }
}
