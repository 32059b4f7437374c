//! `windlass -p`: one prompt, one result.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use windlass::Session;
use windlass::core::ids::LaneId;
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::ports::Store;

use super::local;
use crate::args::{OutputFormat, Print};
use crate::look::find;
use crate::prompt::{mentions, slash, typed};
use crate::setup::{self, Setup};
use crate::show;

/// Runs that are looked through for the newest conversation of a folder.
const MOST_RUNS: usize = 500;

pub(crate) async fn print(print: Print) -> anyhow::Result<ExitCode> {
    check(&print)?;
    let prompt = typed::prompt(print.prompt.as_deref())?;
    let command = slash::read(&prompt).inspect_err(|error| show::not_begun(error, &print))?;
    if let Some(command) = command {
        return local::answer(&command, &print).await;
    }
    let setup = setup::start(&print.agent).await?;
    let session = session(&print, &setup).await?;
    let blocks = mentions::blocks(&prompt, &setup.workplace, session.lane());
    if print.detach {
        // Whoever works on it next finds it in the conversation's mailbox.
        session.leave_blocks(blocks).await?;
        show::line(session.lane().as_str());
        return Ok(ExitCode::SUCCESS);
    }
    let run = session.send_blocks(blocks).await?;
    show::watch(run, &session, &setup, &print.agent).await
}

fn check(print: &Print) -> anyhow::Result<()> {
    if !print.print {
        bail!(
            "say `windlass -p \"what is to be done\"`; `windlass --help` lists what else there is"
        );
    }
    let output = &print.agent.output;
    if output.format() == OutputFormat::StreamJson && !output.verbose {
        bail!("--output-format stream-json needs --verbose");
    }
    if print.fork_session && print.resume.is_none() && !print.go_on {
        bail!("--fork-session copies a conversation; name it with --resume ID or --continue");
    }
    match &print.session_id {
        Some(id) if uuid::Uuid::parse_str(id).is_err() => {
            bail!("the session id {id} is no UUID; to give a name of your own use --conversation")
        }
        Some(_) | None => Ok(()),
    }
}

/// The conversation to go on with, or a new one.
pub(super) async fn session(print: &Print, setup: &Setup) -> anyhow::Result<Session> {
    if let Some(name) = &print.conversation {
        return Ok(setup.windlass.session(name.as_str()));
    }
    let store = setup.store.as_ref();
    let old = match (&print.resume, print.go_on) {
        (Some(id), _) => find::find(store, id).await.map(|found| Some(found.lane)),
        (None, true) => newest(store, &setup.workspace).await.map(Some),
        (None, false) => Ok(None),
    };
    let old = old.inspect_err(|error| show::not_begun(error, print))?;
    match (old, &print.session_id) {
        (Some(lane), _) if print.fork_session => {
            Ok(setup.windlass.session(lane).fork(None).await?)
        }
        (Some(lane), _) => Ok(setup.windlass.session(lane)),
        (None, Some(id)) => {
            let lane = LaneId::from(format!("conversation:{id}"));
            if store.lane(lane.clone()).await?.is_some() {
                bail!("the session id {id} is in use; go on with it by --resume {id}");
            }
            Ok(setup.windlass.session(lane))
        }
        (None, None) => Ok(setup.windlass.session(format!("conversation:{}", setup::new_id()))),
    }
}

/// The newest conversation whose tools worked in this folder.
async fn newest(store: &dyn Store, workspace: &Path) -> anyhow::Result<LaneId> {
    let runs = store.runs(None, MOST_RUNS).await?;
    let mut seen: Vec<LaneId> = Vec::new();
    for run in runs {
        if seen.contains(&run.lane) {
            continue;
        }
        if is_of(store, &run.lane, workspace).await? {
            return Ok(run.lane);
        }
        seen.push(run.lane);
    }
    bail!("there is no conversation of {} to go on with", workspace.display())
}

async fn is_of(store: &dyn Store, lane: &LaneId, workspace: &Path) -> anyhow::Result<bool> {
    let first = store.read_log(lane.clone(), 0, 1).await?;
    let Some(stored) = first.first() else { return Ok(false) };
    let entry = Entry::parse(stored.seq, &stored.line)?;
    let Input::Configured { settings } = &entry.input else { return Ok(false) };
    Ok(Path::new(&*settings.rules.root) == workspace)
}
