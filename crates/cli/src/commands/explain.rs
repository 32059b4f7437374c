//! `windlass explain`: why it stopped or waits, and what to do next.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;
use windlass::core::ids::RunId;

use crate::look::args::LookArgs;
use crate::look::explain::{self, Account, Driver};
use crate::look::paper::{Ink, Paper};
use crate::look::story::Story;
use crate::look::trace::{self, Trace};
use crate::look::{acts, find, pending, whole};
use crate::{setup, show};

#[derive(Serialize)]
struct Whole<'a> {
    explanation: &'a Account,
    iterations: Vec<serde_json::Value>,
}

pub(crate) async fn explain(args: &LookArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.store).await?;
    let found = find::find(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let story = Story::read(store.as_ref(), found.lane.clone()).await?;
    if let Some(queued) = pending::find(store.as_ref(), &found, &story).await? {
        return queued.print(args.json);
    }
    let run = found.run.or_else(|| newest(&story));
    let run = run.context(acts::NOTHING_RUN)?;
    let owner = store.lane(found.lane).await?;
    let need = pending::need_of(store.as_ref(), &story.lane, &run).await?;
    let driver = Driver { lane: owner.as_ref(), need: need.as_ref() };
    let account = explain::explain(&story, &run, driver);
    let traces = trace::traces(&story, Some(&run));
    if args.json {
        show::line(&json(&account, &traces)?);
    } else {
        text(&account, &traces);
    }
    Ok(whole::told(&story))
}

/// The run that is active, or the last one.
fn newest(story: &Story) -> Option<RunId> {
    let active = story.now.run.as_ref().map(|run| run.id.clone());
    active.or_else(|| story.runs().pop())
}

fn json(account: &Account, traces: &[Trace]) -> anyhow::Result<String> {
    let mut iterations = Vec::new();
    for trace in traces {
        iterations.extend(trace.json()?);
    }
    Ok(serde_json::to_string(&Whole { explanation: account, iterations })?)
}

fn text(account: &Account, traces: &[Trace]) {
    let paper = Paper::stdout();
    account.lines(paper).iter().for_each(|line| show::line(line));
    for trace in traces {
        show::line("");
        show::line(&paper.ink(Ink::Strong, "Iterations"));
        trace.table(paper).iter().for_each(|line| show::line(line));
    }
}
