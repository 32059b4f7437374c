//! `windlass rewind`: takes back prompts, with what their runs have done to the files.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use windlass::tools::FileRewind;
use windlass::{Rewind, RewindError};

use crate::args::inspect_args::RewindArgs;
use crate::inspect::id_lookup;
use crate::setup::{self, ModelNeed, OpenConversation, RunSetup};
use crate::{messages, terminal};

/// What a rewind does, for programs.
#[derive(Serialize)]
struct RewindJson<'a> {
    conversation: &'a str,
    /// The first prompt that is taken back.
    prompt: Option<&'a str>,
    rewinds_conversation: bool,
    files: Vec<PathBuf>,
    conflicts: &'a [PathBuf],
    lost: &'a [PathBuf],
    done: bool,
}

pub(crate) async fn run(args: &RewindArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.agent.store).await?;
    let workspace = &args.agent.permissions.workspace;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), workspace).await?;
    let opened = OpenConversation { store, lane: found.lane.clone() };
    let setup =
        setup::start_for_conversation(Some(opened), &args.agent, ModelNeed::NotNeeded).await?;
    let session = setup.windlass.session(found.lane);
    // The id of a run is that of its prompt.
    let named = found.run.filter(|_| args.id.is_some()).map(|run| run.to_string());
    let rewind = match args.to.as_ref().or(named.as_ref()) {
        Some(message) => Rewind::to_message(&session, message).await?,
        None => Rewind::before_last_prompt(&session).await?,
    };
    let plan = match args.rewinds_files() {
        true => rewind.plan_files(&setup.workplace).map_err(with_next_step)?,
        false => FileRewind::default(),
    };
    if args.rewinds_conversation() {
        rewind.check_conversation().map_err(with_next_step)?;
    }
    if !plan.conflicts().is_empty() && !args.force && !args.dry_run {
        bail!(messages::rewind::files_changed(plan.conflicts()));
    }
    if !args.dry_run {
        apply(args, &rewind, &plan, &setup).await?;
        if args.rewinds_conversation() {
            // The command is read now, so that the next look at the conversation shows it.
            session.resume().await?.wait_for_end().await?;
        }
    }
    report(args, session.lane().as_str(), &rewind, &plan)?;
    Ok(ExitCode::SUCCESS)
}

/// Brings back the files first: if a crash comes between, the command can be repeated.
async fn apply(
    args: &RewindArgs,
    rewind: &Rewind,
    plan: &FileRewind,
    setup: &RunSetup,
) -> anyhow::Result<()> {
    rewind.overwrite_files(&setup.workplace, plan)?;
    if args.rewinds_conversation() {
        rewind.rewind_conversation().await?;
    }
    Ok(())
}

fn with_next_step(error: RewindError) -> anyhow::Error {
    match error {
        RewindError::FirstPrompt { .. } => {
            anyhow::anyhow!("{error}, or take back its changes alone with --files")
        }
        RewindError::RunNotFinished => {
            anyhow::anyhow!("{error}: `windlass cancel`, then repeat this command")
        }
        other => other.into(),
    }
}

fn report(
    args: &RewindArgs,
    conversation: &str,
    rewind: &Rewind,
    plan: &FileRewind,
) -> anyhow::Result<()> {
    let done = !args.dry_run;
    if args.agent.output.is_for_programs() {
        let (prompt, files) = (rewind.prompt(), plan.changed_files().map(Into::into).collect());
        let (conflicts, lost) = (plan.conflicts(), plan.lost());
        let rewinds_conversation = args.rewinds_conversation();
        let told =
            RewindJson { conversation, prompt, rewinds_conversation, files, conflicts, lost, done };
        terminal::print_line(&serde_json::to_string(&told)?);
        return Ok(());
    }
    if args.rewinds_conversation() {
        terminal::print_line(&messages::rewind::conversation(conversation, rewind.prompt(), done));
    }
    if args.rewinds_files() {
        for line in messages::rewind::files(plan, done) {
            terminal::print_line(&line);
        }
    }
    Ok(())
}
