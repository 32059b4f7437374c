//! Opens a session: the conversation, what was said in it, the draft, and the first prompt.

use std::process::ExitCode;

use tokio::sync::mpsc;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::LaneId;
use windlass::core::run::conversation::Conversation;
use windlass::messages::{Message, MessageOptions, MessageProjection, SystemEvent, SystemMessage};
use windlass::{Session, StreamOptions};

use super::mention_names;
use super::painter::{Painter, ReflowSupport};
use super::resume_picker;
use super::session_files;
use super::session_loop::{LoopSources, SessionLoop, SessionParts, SessionRole};
use super::session_model::SessionModel;
use super::status_line::StatusInfo;
use super::terminal_modes::SessionModes;
use super::vi_keys::ViState;
use crate::args::{DemoArgs, PrintArgs};
use crate::commands::{demo, print};
use crate::config::claude::settings_sources;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{config_toml, paths};
use crate::exit::ExitReason;
use crate::messages;
use crate::output::SignalListener;
use crate::setup::{self, HostParts, ModelNeed, RunSetup};
use crate::terminal::{self, Color, ColorSupport};

/// Notes that may wait to be shown.
const MAX_NOTES: usize = 64;

/// Opens a session and runs it.
pub(super) async fn open(print: PrintArgs) -> anyhow::Result<ExitCode> {
    Box::pin(open_as(print, SessionRole::Driver)).await
}

/// Opens a session that watches the conversation which the arguments name. It needs no model.
pub(super) async fn attach(print: PrintArgs) -> anyhow::Result<ExitCode> {
    Box::pin(open_as(print, SessionRole::Attached)).await
}

async fn open_as(mut print: PrintArgs, role: SessionRole) -> anyhow::Result<ExitCode> {
    if print.resume.as_deref() == Some("") {
        match resume_picker::choose(&print).await? {
            Some(lane) => print.resume = Some(lane.to_string()),
            None => return Ok(ExitCode::SUCCESS),
        }
    }
    let signals = SignalListener::new()?;
    let old = print::find_named_conversation(&print).await?;
    let started = match role {
        SessionRole::Driver => {
            let host = HostParts {
                describes_environment: true,
                background_agents: true,
                ..HostParts::default()
            };
            setup::start_for_host(old.clone(), &print.agent, host).await
        }
        SessionRole::Attached => {
            let need = ModelNeed::NotNeeded;
            setup::start_for_conversation(old.clone(), &print.agent, need).await
        }
    };
    let setup = match started {
        Err(error) if error.root_cause().to_string() == messages::NO_MODEL_CHOSEN => {
            return offer_demo(&error).await;
        }
        started => started?,
    };
    let session = print::open_session(&print, &setup, old).await?;
    let session = session.with_stream_options(StreamOptions {
        reply_events: true,
        call_progress: true,
        ..StreamOptions::default()
    });
    let has_begun = setup.store.lane_info(session.lane().clone()).await?.is_some();
    let size = super::terminal_size();
    let mut model = SessionModel::new(size, session_files::read_history());
    model.status = initial_status(&print, &setup);
    model.composer.vi = session_files::read_vi_keys().then(ViState::default);
    mention_names::offer_names(&mut model, &setup);
    greet(&mut model, &setup, has_begun, role);
    if has_begun {
        show_history(&mut model, &session, &setup).await?;
    }
    let notes = collect_notes();
    let painter = Painter::new(ColorSupport::of_stdout(), reflow_support(), size);
    let modes = SessionModes::enter()?;
    let first = print.prompt.clone();
    let notifications = config_toml::read()?.terminal.notifications;
    let status_command = status_line_command(&print, &setup);
    let parts = SessionParts {
        print,
        setup,
        session,
        model,
        modes,
        painter,
        has_begun,
        notifications,
        status_command,
        role,
    };
    let mut looped = SessionLoop::new(parts);
    if let Some(draft) = looped.draft_file().and_then(|file| session_files::read_draft(&file)) {
        looped.model.restore(&draft);
    }
    if has_begun {
        looped.continue_conversation().await?;
    }
    if let Some(first) = first {
        looped.model.composer.remember(&first);
        looped.model.submit(first);
    }
    Box::pin(looped.run(LoopSources::new(signals, notes)?)).await
}

/// The command of the user that draws the status line: that of the nearest settings file.
fn status_line_command(print: &PrintArgs, setup: &RunSetup) -> Option<String> {
    let permissions = &print.agent.permissions;
    let reads = |source: &str| permissions.reads_source(source);
    let folder = FolderTrust::load(&setup.workspace, reads).ok()?;
    let sources = settings_sources::effective_sources(permissions, &folder).ok()?;
    let command = sources.iter().rev().find_map(|source| source.status_line_command());
    command.map(str::to_owned)
}

/// Says what is missing for the first session, and offers to watch one that needs nothing.
async fn offer_demo(error: &anyhow::Error) -> anyhow::Result<ExitCode> {
    let (columns, _) = super::terminal_size();
    let text = format!("windlass: {error:#}");
    terminal::print_note(&terminal::wrap_words(&text, columns, 2));
    terminal::print_note("\nWatch the offline demo now? It needs no key and no network. [y/N]");
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line).unwrap_or_default()
    });
    match answer.await?.trim() {
        "y" | "yes" => demo::run(&DemoArgs { keep: false }).await,
        _ => Ok(ExitReason::UsageError.to_exit_code()),
    }
}

/// Notes of the program are shown in the session from here on.
fn collect_notes() -> mpsc::Receiver<String> {
    let (sender, notes) = mpsc::channel(MAX_NOTES);
    terminal::redirect_notes(move |text| drop(sender.try_send(text.to_owned())));
    notes
}

/// Whether the terminal wraps its lines again. The few that do not are known by their variables.
fn reflow_support() -> ReflowSupport {
    let has = |name: &str| std::env::var_os(name).is_some();
    let is_console = std::env::var_os("TERM").is_some_and(|term| term == "linux");
    match has("XTERM_VERSION") && !has("TMUX") || is_console {
        true => ReflowSupport::Cuts,
        false => ReflowSupport::Reflows,
    }
}

fn initial_status(print: &PrintArgs, setup: &RunSetup) -> StatusInfo {
    let (permissions, store) = (&print.agent.permissions, &print.agent.store);
    let sandbox = setup::sandbox_of_folder(permissions, store).ok();
    StatusInfo {
        model: setup.settings.model.name.to_string(),
        mode: messages::stored_name(&setup.settings.rules.mode).to_string(),
        folder: short_folder(&setup.workspace),
        branch: session_files::git_branch(&setup.workspace),
        sandbox: sandbox
            .filter(|choice| choice.choice.policy.is_some())
            .map(|choice| choice.choice.level.level.name().to_owned()),
        ..StatusInfo::default()
    }
}

/// The folder, with `~` for the home.
pub(super) fn short_folder(folder: &std::path::Path) -> String {
    let home = paths::home_folder().and_then(|home| home.canonicalize().ok());
    let inside = home.as_ref().and_then(|home| folder.strip_prefix(home).ok());
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => "~".to_owned(),
        Some(inside) => format!("~/{}", inside.display()),
        None => folder.display().to_string(),
    }
}

fn greet(model: &mut SessionModel, setup: &RunSetup, has_begun: bool, role: SessionRole) {
    let folder = &model.status.folder;
    let name = &setup.settings.model.name;
    let text = match (role, has_begun) {
        (SessionRole::Attached, _) => format!("windlass watches a conversation in {folder}"),
        (SessionRole::Driver, true) => format!("windlass continues in {folder} with {name}"),
        (SessionRole::Driver, false) => format!("windlass works in {folder} with {name}"),
    };
    model.view.add_note(Color::Bold, &text);
    if !has_begun {
        model.view.add_note(
            Color::Dim,
            "Everything is saved as it happens. /help lists keys and commands.",
        );
    }
}

/// The messages of a conversation, and its state.
pub(super) struct MessageHistory {
    pub(super) messages: Vec<Message>,
    pub(super) conversation: Conversation,
}

/// Reads a log as messages. What a rewind took back is left out.
pub(super) fn read_messages(
    lane: &LaneId,
    log: &[Entry],
    setup: &RunSetup,
) -> anyhow::Result<MessageHistory> {
    let options = MessageOptions { prompts: true, ..MessageOptions::default() };
    let nothing = Conversation::default();
    let mut projection =
        MessageProjection::new(lane, nothing, &setup.settings, options.to_projection());
    let mut messages: Vec<Message> = Vec::new();
    for entry in log {
        for message in projection.on_entry(entry) {
            if let Message::System(SystemMessage {
                event: SystemEvent::ConversationRewound { last_message },
                ..
            }) = &message
            {
                let last = messages.iter().rposition(|kept| has_id(kept, last_message));
                messages.truncate(last.map_or(0, |last| last + 1));
            }
            if options.wants(&message) {
                messages.push(message);
            }
        }
    }
    let conversation = projection.conversation().clone();
    Ok(MessageHistory { messages, conversation })
}

fn has_id(message: &Message, id: &str) -> bool {
    match message {
        Message::User(message) => message.uuid == id,
        Message::Assistant(message) => message.uuid == id,
        _ => false,
    }
}

/// Shows what was said before.
pub(super) async fn show_history(
    model: &mut SessionModel,
    session: &Session,
    setup: &RunSetup,
) -> anyhow::Result<()> {
    let log = session.read_log().await?;
    let history = read_messages(session.lane(), &log, setup)?;
    history.messages.iter().for_each(|message| model.on_message(message));
    let now = &history.conversation;
    model.status.fill_usage(now);
    if let Some(recorded) = now.settings.as_ref().filter(|_| model.status.model.is_empty()) {
        model.status.model = recorded.model.name.to_string();
        model.status.mode = messages::stored_name(&recorded.rules.mode).to_string();
    }
    if now.run.is_none() {
        model.view.end_run();
    }
    model.view.keep_last_lines();
    Ok(())
}
