//! `windlass replay`: steps through a run and decides everything again.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use windlass::core::conversation::Conversation;
use windlass::core::ids::Seq;
use windlass::core::log::Entry;

use crate::look::args::LookArgs;
use crate::look::paper::one_line;
use crate::look::story::{Moment, Story};
use crate::look::{acts, find, whole, words};
use crate::{setup, show};

/// Characters of a step on its line.
const STEP_CHARS: usize = 160;

/// One entry, decided again.
#[derive(Serialize)]
struct Step {
    entry: Seq,
    at_ms: u64,
    /// What was told.
    input: String,
    /// What was decided, the same as before.
    records: Vec<String>,
}

pub(crate) async fn replay(args: &LookArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane.clone()).await?;
    let mut belongs: Vec<Seq> = Vec::new();
    story.walk(|moment: Moment<'_>| {
        if found.run.is_none() || moment.run() == found.run.as_ref() {
            belongs.push(moment.entry.seq);
        }
    });
    let mut replayed = Conversation::default();
    for entry in &story.entries {
        // An earlier run is decided again as well: this one stands on it.
        replayed.verify(entry)?;
        if belongs.contains(&entry.seq) {
            show::line(&told(&step(entry), args.json)?);
        }
    }
    if !args.json && story.damage.is_none() {
        show::line(&acts::replayed(&found.lane, story.entries.len()));
    }
    Ok(whole::told(&story))
}

fn step(entry: &Entry) -> Step {
    let records = entry.records.iter().map(words::tag).collect();
    Step { entry: entry.seq, at_ms: entry.at.0, input: words::tag(&entry.input), records }
}

fn told(step: &Step, json: bool) -> anyhow::Result<String> {
    if json {
        return Ok(serde_json::to_string(step)?);
    }
    let Step { entry, input, records, .. } = step;
    Ok(one_line(&format!("{entry:>5}  {input} → {}", records.join(", ")), STEP_CHARS))
}
