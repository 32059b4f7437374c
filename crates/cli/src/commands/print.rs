//! `windlass -p`: one prompt, one result.

use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use windlass::Session;
use windlass::core::ids::{LaneId, RunId};
use windlass::core::run_settings::RunSettings;

use super::{local, newest};
use crate::args::{AgentArgs, OutputFormat, Print};
use crate::exit::{OrUsageError, UsageError};
use crate::look::find;
use crate::prompt::slash::{self, Meant};
use crate::prompt::{arguments, mentions, typed};
use crate::settle::customs::{self, Custom};
use crate::settle::trust::FolderTrust;
use crate::settle::{paths, rules, run_settings};
use crate::setup::{self, Asks, Opened, Setup};
use crate::{refused, show, words};

pub(crate) async fn print(mut print: Print) -> anyhow::Result<ExitCode> {
    check(&print).or_usage_error()?;
    let typed = typed::prompt(print.prompt.as_deref()).or_usage_error()?;
    let meant = meant(&typed, &print.agent).or_usage_error();
    let prompt = match meant.inspect_err(|error| show::not_begun(error, &print))? {
        None => typed,
        Some(Meant::Ours(command)) => return local::answer(&command, &print).await,
        Some(Meant::Theirs(custom, rest)) => {
            written_down(&custom, &rest, &mut print.agent).or_usage_error()?
        }
    };
    let old = earlier(&print).await?;
    check_own_flags(&print, old.as_ref()).await?;
    // Whoever works on a detached prompt asks the model; nobody here needs one, or its key.
    let asks = if print.detach { Asks::Nobody } else { Asks::Model };
    let setup = setup::start_for_prompt(old.clone(), &print.agent, asks).await?;
    let session = session(&print, &setup, old).await?;
    let blocks = mentions::blocks(&prompt, &setup.workplace, session.lane());
    if print.detach {
        // Whoever works on it next finds it in the conversation's mailbox.
        let given = run_settings::given(&print.agent, &setup.settings)?;
        let run = session.leave_with(blocks, Some(given)).await?;
        return say_detached(session.lane(), &run, &print.agent);
    }
    let settings = RunSettings::of(&setup.settings);
    let run = session.send_with(blocks, settings).await?;
    show::watch(run, &session, &setup, &print.agent).await
}

/// Whether everything that was given can be for the run of this prompt alone. Some of it counts for
/// all that a process drives: it cannot travel, and another run must not have it.
async fn check_own_flags(print: &Print, old: Option<&Opened>) -> anyhow::Result<()> {
    let flags = run_settings::process_flags(&print.agent.permissions);
    let script = print.agent.model.script.is_some().then(|| "--script".to_owned());
    if print.detach
        && let Some(flag) = script.iter().chain(&flags).next()
    {
        return Err(UsageError::of(anyhow::anyhow!(words::not_detached(flag))));
    }
    let (Some(flag), Some(old)) = (flags.first(), old) else { return Ok(()) };
    let lane = old.store.lane(old.lane.clone()).await?;
    let is_at_work = lane.as_ref().is_some_and(|lane| lane.active_run.is_some());
    let waits = lane.is_some() && !old.store.read_mail(old.lane.clone(), 1).await?.is_empty();
    if (is_at_work || waits) && !print.fork_session {
        bail!(words::not_behind(flag, &old.lane));
    }
    Ok(())
}

/// Says where a detached prompt is found.
fn say_detached(lane: &LaneId, run: &RunId, args: &AgentArgs) -> anyhow::Result<ExitCode> {
    show::line(&match args.output.is_for_programs() {
        true => serde_json::to_string(&Detached { conversation: lane, run, state: "queued" })?,
        false => lane.to_string(),
    });
    Ok(ExitCode::SUCCESS)
}

/// A prompt that waits for a worker.
#[derive(Serialize)]
struct Detached<'a> {
    conversation: &'a LaneId,
    run: &'a RunId,
    state: &'static str,
}

/// The command that a prompt is, if it is one.
fn meant(prompt: &str, agent: &AgentArgs) -> anyhow::Result<Option<Meant>> {
    let args = &agent.permissions;
    let workspace = paths::folder(&args.workspace, "--workspace")?;
    // Files are looked for only by whoever types a command.
    let customs = match prompt.starts_with('/') {
        true => {
            let mut folder = FolderTrust::look(&workspace, |source| args.reads(source))?;
            setup::ask_about(&mut folder, rules::who_is_asked(args, agent.output.format()))?;
            customs::all(args, &workspace, folder.trust)
        }
        false => Vec::new(),
    };
    slash::read(prompt, &customs)
}

/// The prompt that somebody wrote down. What it asks for counts for this prompt; what was typed
/// counts more.
fn written_down(custom: &Custom, rest: &str, args: &mut AgentArgs) -> anyhow::Result<String> {
    let page = custom.open().map_err(|why| {
        anyhow::anyhow!("/{} cannot be used: {}: {why}", custom.name, custom.path().display())
    })?;
    for warning in &page.warnings {
        let told = format!("{} {warning}", custom.path().display());
        if args.permissions.strict_settings {
            bail!("/{} cannot be used (--strict-settings): {told}", custom.name);
        }
        show::note(&words::problem(&told));
    }
    if !page.ignored.is_empty() {
        show::note(&words::untrusted_command(&custom.name, &page.ignored));
    }
    args.permissions.allow.extend(page.rules);
    if args.model.script.is_none() && args.model.model.is_none() {
        args.model.model = page.model;
    }
    Ok(arguments::fill(&page.prompt, rest))
}

fn check(print: &Print) -> anyhow::Result<()> {
    if !print.print {
        bail!(refused::not_a_command(print.prompt.as_deref()));
    }
    let output = &print.agent.output;
    if output.format() == OutputFormat::StreamJson && !output.verbose {
        bail!("--output-format stream-json needs --verbose");
    }
    if print.fork_session && print.resume.is_none() && !print.go_on {
        bail!("--fork-session copies a conversation; name it with --resume ID or --continue");
    }
    if print.conversation.as_deref().is_some_and(|name| name.trim().is_empty()) {
        bail!(
            "the name given with --conversation is empty; give one, or none for a new conversation"
        )
    }
    if let Some(name) = &print.conversation
        && name.contains('/')
    {
        bail!("the conversation name {name} has a /, which names of sub-agents have; use another")
    }
    if let Some(name) = &print.conversation
        && (name.trim().is_empty() || name.starts_with('-'))
    {
        bail!("the conversation name `{name}` is empty or begins with a dash; use another")
    }
    Ok(())
}

/// The conversation that was named, if one was; it may be new all the same.
pub(super) async fn earlier(print: &Print) -> anyhow::Result<Option<Opened>> {
    if print.resume.is_none() && !print.go_on && print.conversation.is_none() {
        return Ok(None);
    }
    let args = &print.agent;
    let workspace = paths::folder(&args.permissions.workspace, "--workspace")?;
    // A conversation that is named in full may be new; every other one must be there already.
    let store = match &print.conversation {
        Some(_) => setup::store(&args.store).await?,
        None => setup::existing_store(&args.store).await?,
    };
    let lane = match (&print.conversation, &print.resume) {
        (Some(name), _) => Ok(LaneId::from(name.as_str())),
        (None, Some(id)) => {
            find::find(store.as_ref(), Some(id), &workspace).await.map(|found| found.lane)
        }
        (None, None) => newest::to_go_on_with(store.as_ref(), &args.store, &workspace).await,
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
                bail!(
                    "the session id {id} is in use; continue that conversation with --resume {id}"
                );
            }
            Ok(setup.windlass.session(lane))
        }
        (None, None) => Ok(setup.windlass.session(format!("conversation:{}", setup::new_id()))),
    }
}
