//! `windlass replay`: decides every recorded step of a run again and compares.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::Seq;
use windlass::core::run::conversation::Conversation;

use crate::args::inspect_args::InspectArgs;
use crate::inspect::history::{ConversationHistory, RecordContext};
use crate::inspect::{damage_report, id_lookup};
use crate::terminal::{self, to_one_line};
use crate::{messages, setup};

/// Maximum characters of a step on its line.
const MAX_STEP_CHARS: usize = 160;

/// One entry of the log, decided again.
#[derive(Serialize)]
struct ReplayStep {
    entry: Seq,
    at_ms: u64,
    /// Tag of the input.
    input: String,
    /// Tags of the records, decided again with the same result.
    records: Vec<String>,
}

pub(crate) async fn run(args: &InspectArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane.clone()).await?;
    let mut belongs: Vec<Seq> = Vec::new();
    history.for_each_record(|moment: RecordContext<'_>| {
        if found.run.is_none() || moment.run() == found.run.as_ref() {
            belongs.push(moment.entry.seq);
        }
    });
    let mut replayed = Conversation::default();
    for entry in &history.entries {
        // Earlier runs are verified as well: this one depends on their state.
        replayed.verify(entry)?;
        if belongs.contains(&entry.seq) {
            terminal::print_line(&format_step(&describe_entry(entry), args.json)?);
        }
    }
    if !args.json && history.damage.is_none() {
        terminal::print_line(&messages::action::replay_identical(
            &found.lane,
            history.entries.len(),
        ));
    }
    Ok(damage_report::report_damage(&history))
}

fn describe_entry(entry: &Entry) -> ReplayStep {
    let records = entry.records.iter().map(messages::record_tag).collect();
    ReplayStep {
        entry: entry.seq,
        at_ms: entry.at.0,
        input: messages::record_tag(&entry.input),
        records,
    }
}

fn format_step(step: &ReplayStep, json: bool) -> anyhow::Result<String> {
    if json {
        return Ok(serde_json::to_string(step)?);
    }
    let ReplayStep { entry, input, records, .. } = step;
    Ok(to_one_line(&format!("{entry:>5}  {input} → {}", records.join(", ")), MAX_STEP_CHARS))
}
