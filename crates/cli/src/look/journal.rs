//! The run journal, as it stands.

use serde::Serialize;
use windlass::core::journal::{Field, JournalEntry, List};

use super::paper::{Ink, Paper, clean};
use super::story::Story;

const FIELDS: [Field; 3] = [Field::Objective, Field::CurrentState, Field::HandoffNextAction];

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

/// The journal as one JSON object; each list with its entries, resolved ones too.
pub(crate) fn json(story: &Story) -> anyhow::Result<String> {
    let journal = &story.now.journal;
    Ok(serde_json::to_string(&JournalJson {
        conversation: story.lane.as_str(),
        version: journal.version(),
        objective: journal.field(Field::Objective),
        current_state: journal.field(Field::CurrentState),
        handoff_next_action: journal.field(Field::HandoffNextAction),
        verified_findings: journal.list(List::VerifiedFindings).collect(),
        decisions: journal.list(List::Decisions).collect(),
        artifacts: journal.list(List::Artifacts).collect(),
        open_questions: journal.list(List::OpenQuestions).collect(),
        blockers: journal.list(List::Blockers).collect(),
    })?)
}

/// The journal in lines that fit.
pub(crate) fn lines(story: &Story, paper: Paper) -> Vec<String> {
    let journal = &story.now.journal;
    let name = clean(story.lane.as_str());
    if journal.is_empty() {
        return vec![format!(
            "The journal of {name} is empty: the model writes it with update_run_journal."
        )];
    }
    let title = format!("Run journal of {name} (version {})", journal.version());
    let mut lines = vec![paper.ink(Ink::Strong, &title)];
    for field in FIELDS {
        if let Some(text) = journal.field(field) {
            lines.push(String::new());
            lines.push(paper.ink(Ink::Strong, field.title()));
            lines.push(paper.wrap(&clean(text), 2));
        }
    }
    for list in List::ALL {
        let entries: Vec<String> =
            journal.list(list).map(|entry| entry_lines(entry, paper)).collect();
        if !entries.is_empty() {
            lines.push(String::new());
            lines.push(paper.ink(Ink::Strong, list.title()));
            lines.extend(entries);
        }
    }
    lines
}

fn entry_lines(entry: &JournalEntry, paper: Paper) -> String {
    let JournalEntry { id, text, resolved, .. } = entry;
    let mark = if *resolved { " (resolved)" } else { "" };
    let text = paper.wrap(&format!("#{id}{mark} {}", clean(text)), 2);
    if *resolved { paper.ink(Ink::Faint, &text) } else { text }
}
