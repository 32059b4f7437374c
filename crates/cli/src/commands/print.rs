//! `windlass -p`: runs one prompt and prints its result.

use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::settings::run_settings::RunSettings;
use windlass::{Session, StreamOptions};

use super::{local_commands, newest_conversation};
use crate::args::{AgentArgs, OutputArgs, OutputFormat, PrintArgs, ToolStatePolicy, parse_error};
use crate::config::claude::custom_commands::{self, CustomCommand};
use crate::config::claude::{main_agent, permission_settings};
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{paths, plugins, run_settings};
use crate::exit::{OrUsageError, UsageError};
use crate::inspect::id_lookup;
use crate::output::SignalListener;
use crate::prompt::slash_command::{self, SlashCommand};
use crate::prompt::{command_arguments, prompt_content, prompt_input, session_events};
use crate::setup::{self, ModelNeed, OpenConversation, RunSetup};
use crate::{messages, output, terminal};

pub(crate) async fn run(mut print: PrintArgs) -> anyhow::Result<ExitCode> {
    validate_args(&print).or_usage_error()?;
    main_agent::apply_main_agent(&mut print.agent).or_usage_error()?;
    if print.session.no_session_persistence {
        print.agent.tool_state = ToolStatePolicy::Discarded;
    }
    let typed = prompt_input::read_prompt(print.prompt.as_deref()).or_usage_error()?;
    let meant = match print.agent.prompt.disable_slash_commands {
        true => Ok(None),
        false => parse_slash_command(&typed, &print.agent).or_usage_error(),
    };
    let prompt = match meant.inspect_err(|error| output::print_no_conversation(error, &print))? {
        None => (typed, None),
        Some(SlashCommand::Local(command)) => {
            return Box::pin(local_commands::run(&command, &print)).await;
        }
        Some(SlashCommand::Custom(custom, rest)) => {
            let text = expand_custom_command(&custom, &rest, &mut print.agent).or_usage_error()?;
            (text, Some((custom.name, rest)))
        }
    };
    let (prompt, expanded) = prompt;
    let old = find_named_conversation(&print).await?;
    check_own_flags(&print, old.as_ref()).await?;
    // The worker makes the model calls of a detached prompt: no model or key is needed here.
    let asks = if print.detach { ModelNeed::NotNeeded } else { ModelNeed::Required };
    let setup = setup::start_for_prompt(old.clone(), &print.agent, asks).await?;
    let session = open_session(&print, &setup, old).await?;
    let session = session.with_stream_options(stream_options(&print.agent.output));
    let prompt = match expanded {
        Some((name, rest)) => {
            let told = session_events::announce_expansion(&session, (&name, &rest), prompt).await;
            told.inspect_err(|error| output::print_no_conversation(error, &print))?
        }
        None => prompt,
    };
    let blocks = prompt_content::build(&prompt, &setup, session.lane()).await;
    let blocks = blocks.inspect_err(|error| output::print_no_conversation(error, &print))?;
    if print.detach {
        // The worker finds the prompt in the inbox of the conversation.
        let given = run_settings::explicit_run_settings(&print.agent, &setup.settings)?;
        let run = session.enqueue_with(blocks, Some(given)).await?;
        return print_detached(session.lane(), &run, &print.agent);
    }
    let settings = RunSettings::from_settings(&setup.settings);
    let signals = SignalListener::new()?;
    let run = session.send_with(blocks, settings).await?;
    output::follow_run(run, (&session, &setup), &print.agent, signals).await
}

/// What the output needs besides entries and text.
fn stream_options(output: &OutputArgs) -> StreamOptions {
    let partial = output.format() == OutputFormat::StreamJson && output.include_partial_messages;
    let shows_tail = !output.is_for_programs() && output::shows_progress_line();
    StreamOptions {
        reply_events: partial,
        call_progress: partial || shows_tail,
        call_summaries: output.wants_tool_use_summaries(),
    }
}

/// Checks that all given flags can apply to the run of this prompt alone. Some flags apply to
/// everything that a process drives: they cannot be sent with a prompt, and must not apply to
/// another run.
async fn check_own_flags(print: &PrintArgs, old: Option<&OpenConversation>) -> anyhow::Result<()> {
    let flags = run_settings::process_flags(&print.agent);
    let script = print.agent.model.script.is_some().then(|| "--script".to_owned());
    if print.detach
        && let Some(flag) = script.iter().chain(&flags).next()
    {
        return Err(UsageError::wrap(anyhow::anyhow!(messages::not_detached(flag))));
    }
    let (Some(flag), Some(old)) = (flags.first(), old) else { return Ok(()) };
    let lane = old.store.lane_info(old.lane.clone()).await?;
    let is_at_work = lane.as_ref().is_some_and(|lane| lane.active_run.is_some());
    let waits = lane.is_some() && !old.store.read_inbox(old.lane.clone(), 1).await?.is_empty();
    if (is_at_work || waits) && !print.fork_session {
        bail!(messages::not_behind(flag, &old.lane));
    }
    Ok(())
}

/// Prints the ids of a detached prompt and how to follow it.
fn print_detached(lane: &LaneId, run: &RunId, args: &AgentArgs) -> anyhow::Result<ExitCode> {
    terminal::print_line(&match args.output.is_for_programs() {
        true => serde_json::to_string(&DetachedJson { conversation: lane, run, state: "queued" })?,
        false => lane.to_string(),
    });
    Ok(ExitCode::SUCCESS)
}

/// JSON output for a detached prompt, which waits for a worker.
#[derive(Serialize)]
struct DetachedJson<'a> {
    conversation: &'a LaneId,
    run: &'a RunId,
    state: &'static str,
}

/// Parses a prompt that is a slash command; `None` for any other prompt.
fn parse_slash_command(prompt: &str, agent: &AgentArgs) -> anyhow::Result<Option<SlashCommand>> {
    let args = &agent.permissions;
    let workspace = paths::resolve_folder(&args.workspace, "--workspace")?;
    // Custom commands are read only if the prompt is a slash command.
    let customs = match prompt.starts_with('/') {
        true => {
            let mut folder = FolderTrust::load(&workspace, |source| args.reads_source(source))?;
            setup::ask_about_trust(
                &mut folder,
                permission_settings::resolve_when_asked(args, agent.output.format()),
            )?;
            let plugins = plugins::load_plugins(args, &folder)?;
            custom_commands::load_commands(args, &workspace, folder.trust, &plugins)
        }
        false => Vec::new(),
    };
    slash_command::parse_slash(prompt, &customs)
}

/// Expands a custom command into a prompt. Its rules and model apply to this prompt; flags override
/// them.
fn expand_custom_command(
    custom: &CustomCommand,
    rest: &str,
    args: &mut AgentArgs,
) -> anyhow::Result<String> {
    let page = custom.read_page().map_err(|reason| {
        anyhow::anyhow!("cannot use /{}: {}: {reason}", custom.name, custom.path().display())
    })?;
    for warning in &page.warnings {
        let text = format!("{} {warning}", custom.path().display());
        if args.permissions.strict_settings {
            bail!("cannot use /{} (--strict-settings): {text}", custom.name);
        }
        terminal::print_note(&messages::warning(&text));
    }
    if !page.ignored_fields.is_empty() {
        terminal::print_note(&messages::untrusted_command_fields(
            &custom.name,
            &page.ignored_fields,
        ));
    }
    args.permissions.allow.extend(page.rules);
    if args.model.script.is_none() && args.model.model.is_none() {
        args.model.model = page.model;
    }
    Ok(command_arguments::fill_arguments(&page.prompt, rest))
}

fn validate_args(print: &PrintArgs) -> anyhow::Result<()> {
    if !print.print {
        bail!(parse_error::unknown_command_message(print.prompt.as_deref()));
    }
    let output = &print.agent.output;
    if output.format() == OutputFormat::StreamJson && !output.verbose {
        bail!("--output-format stream-json needs --verbose");
    }
    if print.fork_session && print.resume.is_none() && !print.continue_newest {
        bail!("--fork-session needs a conversation; name it with --resume ID or --continue");
    }
    if print.conversation.as_deref().is_some_and(|name| name.trim().is_empty()) {
        bail!(
            "the name given with --conversation is empty; give one, or none for a new conversation"
        )
    }
    if let Some(name) = &print.conversation
        && name.contains('/')
    {
        bail!(
            "the conversation name `{name}` contains `/`, which is reserved for sub-agents; use another"
        )
    }
    if let Some(name) = &print.conversation
        && (name.trim().is_empty() || name.starts_with('-'))
    {
        bail!("the conversation name `{name}` is empty or begins with a dash; use another")
    }
    Ok(())
}

/// Opens the store and finds the named conversation, if one was named; it may be new.
pub(crate) async fn find_named_conversation(
    print: &PrintArgs,
) -> anyhow::Result<Option<OpenConversation>> {
    if print.session.no_session_persistence {
        return Ok(Some(OpenConversation::in_memory(print.session_id.as_deref())));
    }
    if print.resume.is_none() && !print.continue_newest && print.conversation.is_none() {
        return Ok(None);
    }
    let args = &print.agent;
    let workspace = paths::resolve_folder(&args.permissions.workspace, "--workspace")?;
    // A conversation named with its full id may be new; all others must exist.
    let store = match &print.conversation {
        Some(_) => setup::open_store(&args.store).await?,
        None => setup::open_existing_store(&args.store).await?,
    };
    let lane = match (&print.conversation, &print.resume) {
        (Some(name), _) => Ok(LaneId::from(name.as_str())),
        (None, Some(id)) => id_lookup::find_target(store.as_ref(), Some(id), &workspace)
            .await
            .map(|found| found.lane),
        (None, None) => {
            newest_conversation::find_conversation_to_continue(
                store.as_ref(),
                &args.store,
                &workspace,
            )
            .await
        }
    };
    let lane = lane.inspect_err(|error| output::print_no_conversation(error, print))?;
    Ok(Some(OpenConversation { store, lane }))
}

/// Opens the conversation to continue, or a new one.
pub(crate) async fn open_session(
    print: &PrintArgs,
    setup: &RunSetup,
    old: Option<OpenConversation>,
) -> anyhow::Result<Session> {
    match (old, &print.session_id) {
        (Some(old), _) if print.fork_session => {
            Ok(setup.windlass.session(old.lane).fork(None).await?)
        }
        (Some(old), _) => Ok(setup.windlass.session(old.lane)),
        (None, Some(id)) => {
            let lane = LaneId::from(format!("conversation:{id}"));
            if setup.store.lane_info(lane.clone()).await?.is_some() {
                bail!(
                    "the session id {id} is in use; continue that conversation with --resume {id}"
                );
            }
            Ok(setup.windlass.session(lane))
        }
        (None, None) => Ok(setup.windlass.session(format!("conversation:{}", setup::new_id()))),
    }
}
