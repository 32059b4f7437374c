//! `windlass -p`: one prompt, one result.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use windlass::Session;
use windlass::core::ids::LaneId;
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::ports::Store;

use crate::args::{OutputFormat, Print};
use crate::look::find;
use crate::setup::{self, Setup};
use crate::show;

/// Prompts larger than this are refused.
const PROMPT_BYTES: u64 = 16 << 20;

/// Runs that are looked through for the newest conversation of a folder.
const MOST_RUNS: usize = 500;

pub(crate) async fn print(print: Print) -> anyhow::Result<ExitCode> {
    check(&print)?;
    let prompt = prompt(print.prompt.as_deref())?;
    let setup = setup::start(&print.agent).await?;
    let session = session(&print, &setup).await?;
    if print.detach {
        // Whoever works on it next finds it in the conversation's mailbox.
        session.leave(&prompt).await?;
        show::line(session.lane().as_str());
        return Ok(ExitCode::SUCCESS);
    }
    let run = session.send(&prompt).await?;
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
    Ok(())
}

fn prompt(given: Option<&str>) -> anyhow::Result<String> {
    let prompt = match given {
        None if std::io::stdin().is_terminal() => {
            bail!("there is no prompt; say `windlass -p \"what is to be done\"`")
        }
        None | Some("-") => from_stdin()?,
        Some(text) => text.to_owned(),
    };
    if prompt.trim().is_empty() {
        bail!("the prompt is empty; say what is to be done");
    }
    Ok(prompt)
}

fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().take(PROMPT_BYTES + 1);
    input.read_to_end(&mut bytes).context("the prompt could not be read from standard input")?;
    if bytes.len() as u64 > PROMPT_BYTES {
        bail!(
            "the prompt is larger than {} MiB; put it into a file and name the file",
            PROMPT_BYTES >> 20
        );
    }
    String::from_utf8(bytes).context("the prompt is not valid UTF-8; convert it first")
}

/// The conversation to go on with, or a new one.
async fn session(print: &Print, setup: &Setup) -> anyhow::Result<Session> {
    if let Some(name) = &print.conversation {
        return Ok(setup.windlass.session(name.as_str()));
    }
    let store = setup.store.as_ref();
    let old = match (&print.resume, print.go_on) {
        (Some(id), _) => Some(find::find(store, id).await?.lane),
        (None, true) => Some(newest(store, &setup.workspace).await?),
        (None, false) => None,
    };
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
