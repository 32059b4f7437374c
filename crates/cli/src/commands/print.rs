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
use crate::settle::paths;
use crate::setup::{self, Asks, Opened, Setup};
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
    let old = earlier(&print).await?;
    let setup = setup::start_on(old.clone(), &print.agent, Asks::Model).await?;
    let session = session(&print, &setup, old).await?;
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

/// The conversation that was named, if one was; it may be new all the same.
pub(super) async fn earlier(print: &Print) -> anyhow::Result<Option<Opened>> {
    if print.resume.is_none() && !print.go_on && print.conversation.is_none() {
        return Ok(None);
    }
    let args = &print.agent;
    let workspace = paths::folder(&args.permissions.workspace, "--workspace")?;
    let store = setup::store(&args.store).await?;
    let lane = match (&print.conversation, &print.resume) {
        (Some(name), _) => Ok(LaneId::from(name.as_str())),
        (None, Some(id)) => find::find(store.as_ref(), id).await.map(|found| found.lane),
        (None, None) => newest(store.as_ref(), &workspace).await,
    };
    let lane = lane.inspect_err(|error| show::not_begun(error, print))?;
    Ok(Some(Opened { store, lane }))
}

/// The conversation to go on with, or a new one.
pub(super) async fn session(
    print: &Print,
    setup: &Setup,
    old: Option<Opened>,
) -> anyhow::Result<Session> {
    match (old, &print.session_id) {
        (Some(old), _) if print.fork_session => {
            Ok(setup.windlass.session(old.lane).fork(None).await?)
        }
        (Some(old), _) => Ok(setup.windlass.session(old.lane)),
        (None, Some(id)) => {
            let lane = LaneId::from(format!("conversation:{id}"));
            if setup.store.lane(lane.clone()).await?.is_some() {
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
