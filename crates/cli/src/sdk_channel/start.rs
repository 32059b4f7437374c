//! The start of the channel: the handshake, the conversation, and everything that the loop needs.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;
use tokio::sync::mpsc;
use windlass::messages::{MessageOptions, ResultAudience};
use windlass::tools::{CommandHooks, HookConfig};
use windlass::{AgentTasks, SystemClock};

use super::approvals::Approvals;
use super::background::BackgroundWatch;
use super::channel_loop::{Channel, ChannelSources};
use super::control_requests;
use super::conversation::{self, NoConversation};
use super::frame_writer::FrameWriter;
use super::hook_callbacks::HostHooks;
use super::host_requests::HostRequests;
use super::host_servers;
use super::incoming::ControlRequest;
use super::initialize::InitializeRequest;
use super::initialize_response::initialize_response;
use super::input_pump::{self, ChannelEvent};
use super::input_reader::InputReader;
use super::prompt_queue::PromptQueue;
use super::session_state::{SessionState, StateReaders};
use super::side_frames::{HookEvents, SideEvents};
use super::transcripts::Transcripts;
use crate::args::{PermissionPromptsArg, PrintArgs, ToolStatePolicy, WhenAsked};
use crate::config::claude::{agent_spec, hook_config, main_agent};
use crate::config::paths;
use crate::exit::ExitReason;
use crate::output::SignalListener;
use crate::setup::{self, HostParts};
use crate::terminal;

/// Whether the program at the other end of the channel is asked for approval.
fn asks_host(print: &PrintArgs) -> bool {
    print.sdk.permission_prompt_tool.as_deref() == Some("stdio")
        && print.agent.permissions.permission_prompts != Some(PermissionPromptsArg::None)
}

/// Adds the agents of the program, and lets the one that `--agent` names run the conversation.
fn apply_agents(print: &mut PrintArgs, initialize: &InitializeRequest) -> anyhow::Result<()> {
    let given = agent_spec::agents_from_json(initialize.agents.clone())?;
    print.agent.agents.given.extend(given);
    if print.agent.agents.agent.is_some() {
        // SDKs send an empty prompt if the program has given none.
        print.agent.prompt.system_prompt.take_if(|prompt| prompt.trim().is_empty());
    }
    main_agent::apply_main_agent(&mut print.agent)
}

/// How a program connects.
enum Handshake {
    /// With an initialize request.
    Initialize(ControlRequest),
    /// Without one: its first message.
    Skipped(ChannelEvent),
    /// It has nothing to say.
    Ended,
}

/// Connects and serves the channel.
pub(super) async fn serve(print: PrintArgs, writer: FrameWriter) -> anyhow::Result<ExitCode> {
    let signals = SignalListener::new()?;
    let host = HostRequests::new(writer.clone());
    let mut events = input_pump::start(InputReader::start(), host.clone());
    let (request, first) = match read_handshake(&mut events, &print).await? {
        Handshake::Initialize(request) => (Some(request), None),
        Handshake::Skipped(first) => (None, Some(first)),
        Handshake::Ended => return Ok(ExitCode::SUCCESS),
    };
    let connection = Connection { print, writer, host, request };
    let mut started = match Box::pin(connection.start(events, signals)).await {
        Ok(started) => started,
        Err(StartFailure::Reported) => return Ok(ExitReason::Failure.to_exit_code()),
        Err(StartFailure::Error(error)) => return Err(error),
    };
    if let Some(first) = first {
        started.0.on_event(Some(first)).await?;
    }
    let (channel, sources) = started;
    Box::pin(channel.serve(sources)).await
}

async fn read_handshake(
    events: &mut mpsc::Receiver<ChannelEvent>,
    print: &PrintArgs,
) -> anyhow::Result<Handshake> {
    loop {
        let event = events.recv().await;
        match event {
            Some(ChannelEvent::Request(request)) if request.subtype == "initialize" => {
                return Ok(Handshake::Initialize(request));
            }
            Some(ChannelEvent::InputEnded) | None => return Ok(Handshake::Ended),
            Some(ChannelEvent::InputFailed(error)) => return Err(error.into()),
            Some(ChannelEvent::Withdrawal) => {}
            Some(ChannelEvent::Prompt(_) | ChannelEvent::Request(_))
                if print.sdk.await_initialize =>
            {
                bail!("--await-initialize requires an initialize request as the first line");
            }
            Some(first) => return Ok(Handshake::Skipped(first)),
        }
    }
}

/// Why the channel could not start.
enum StartFailure {
    /// The program got a result that says why.
    Reported,
    Error(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for StartFailure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// A program that has connected.
struct Connection {
    print: PrintArgs,
    writer: FrameWriter,
    host: HostRequests,
    /// The initialize request that waits for its answer.
    request: Option<ControlRequest>,
}

impl Connection {
    async fn start(
        mut self,
        events: mpsc::Receiver<ChannelEvent>,
        signals: SignalListener,
    ) -> Result<(Channel, ChannelSources), StartFailure> {
        let initialize = self.request.as_ref().map(InitializeRequest::parse).unwrap_or_default();
        initialize.apply_to(&mut self.print);
        if self.print.session.no_session_persistence {
            self.print.agent.tool_state = ToolStatePolicy::Discarded;
        }
        if let Err(error) = apply_agents(&mut self.print, &initialize) {
            return self.refuse(&format!("{error:#}")).await;
        }
        let side_events = SideEvents::default();
        side_events.collect_notes();
        let found = match conversation::find(&self.print).await {
            Ok(found) => found,
            Err(error) => return self.report_failure(error).await,
        };
        let hook_config = match HookConfig::parse_callbacks(&initialize.hooks) {
            Ok(config) => config,
            Err(error) => return self.refuse(&error.to_string()).await,
        };
        let permission_hooks = self.host_hooks(hook_config.clone())?;
        let is_asked = asks_host(&self.print) || permission_hooks.decides_permissions();
        self.print.agent.permissions.when_asked =
            Some(if is_asked { WhenAsked::Park } else { WhenAsked::Deny });
        let servers = initialize.sdk_servers(&self.print)?;
        let parts = HostParts {
            describes_environment: false,
            servers: host_servers::server_specs(servers, &self.host),
            adds_servers: true,
            hooks: Some(self.host_hooks(hook_config)?),
            hook_reports: Some(side_events.hook_reports(self.hook_events())),
            background_agents: true,
            agent_tasks: AgentTasks::default(),
            open_files: None,
        };
        let setup = setup::start_for_host(found.stored.clone(), &self.print.agent, parts).await?;
        let session = conversation::open(&self.print, &setup, found)
            .await?
            .with_stream_options(message_options(&self.print).to_stream_options());
        let state =
            Arc::new(SessionState::new(self.writer.clone(), StateReaders::from_environment()));
        let (approvals, answers) = Approvals::new(
            self.host.clone(),
            Arc::clone(&state),
            asks_host(&self.print),
            Some(permission_hooks),
            setup.workspace.clone(),
        );
        if let Some(request) = &self.request {
            let response = initialize_response(&setup, state.name().await);
            control_requests::respond(&self.writer, &request.id, Ok(response)).await?;
        }
        let is_kept = !self.print.session.no_session_persistence;
        let transcripts = Transcripts::new(is_kept, self.print.sdk.session_mirror);
        let channel = Channel {
            print: self.print,
            initial_settings: setup.settings.clone(),
            setup,
            session,
            writer: self.writer,
            state,
            approvals,
            side_events,
            transcripts,
            queue: PromptQueue::default(),
            turn: None,
            background: BackgroundWatch::from_environment(),
            set_servers: BTreeSet::new(),
            input_ended: false,
            last_is_error: false,
            has_had_turn: false,
        };
        Ok((channel, ChannelSources { events, answers, signals }))
    }

    fn hook_events(&self) -> HookEvents {
        match self.print.sdk.include_hook_events {
            true => HookEvents::Included,
            false => HookEvents::LeftOut,
        }
    }

    /// The hooks of the program.
    fn host_hooks(&self, config: HookConfig) -> anyhow::Result<CommandHooks> {
        let folder = paths::resolve_folder(&self.print.agent.permissions.workspace, "--workspace")?;
        let hooks = CommandHooks::new(config, &folder, Arc::new(SystemClock::start()));
        let hooks = match self.print.session.no_session_persistence {
            true => hooks,
            false => hook_config::with_transcripts(hooks, &folder),
        };
        Ok(hooks.with_callbacks(Arc::new(HostHooks::new(self.host.clone()))))
    }

    /// Refuses the initialize request.
    async fn refuse<T>(&self, reason: &str) -> Result<T, StartFailure> {
        match &self.request {
            Some(request) => {
                let answer = Err(reason.to_owned());
                control_requests::respond(&self.writer, &request.id, answer).await?;
                Err(StartFailure::Reported)
            }
            None => Err(StartFailure::Error(anyhow::anyhow!("{reason}"))),
        }
    }

    /// Reports that there is no conversation to serve, as the result of a turn. The SDKs make an
    /// error of the request that waits from it.
    async fn report_failure<T>(&self, error: anyhow::Error) -> Result<T, StartFailure> {
        if !error.is::<NoConversation>() {
            return Err(StartFailure::Error(error));
        }
        let session_id = self.print.resume.clone().unwrap_or_default();
        self.writer
            .send(&json!({
                "type": "result",
                "subtype": "error_during_execution",
                "is_error": true,
                "duration_ms": 0,
                "duration_api_ms": 0,
                "num_turns": 0,
                "stop_reason": null,
                "total_cost_usd": 0.0,
                "usage": {},
                "modelUsage": {},
                "permission_denials": [],
                "errors": [error.to_string()],
                "session_id": session_id,
                "uuid": setup::new_id(),
            }))
            .await?;
        terminal::print_error(&error);
        Err(StartFailure::Reported)
    }
}

/// Which messages the program wants.
pub(super) fn message_options(print: &PrintArgs) -> MessageOptions {
    let partial_messages = print.agent.output.include_partial_messages;
    MessageOptions {
        audience: ResultAudience::AgentSdk,
        partial_messages,
        prompts: print.sdk.replay_user_messages,
        sub_agent_text: print.sdk.forward_subagent_text,
        tool_progress: partial_messages,
        tool_use_summaries: print.agent.output.wants_tool_use_summaries(),
    }
}
