//! The loop of a session: waits for keys, messages, signals and time, gives them to the model of
//! the session, does what it asks for, and draws.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;
use windlass::Session;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::Settings;
use windlass::messages::{Message, MessageOptions, MessageReader};

use super::active_run::{ActiveRun, RunEvent};
use super::background_commands::BackgroundWatch;
use super::composer::Draft;
use super::key_decoder::KeyDecoder;
use super::live_view::SPINNER_MS;
use super::notifications::{LONG_RUN_MS, WindowState, WindowTitle};
use super::painter::Painter;
use super::question_panel::QuestionPlace;
use super::session_files;
use super::session_model::SessionModel;
use super::shell_command::{ShellCommand, ShellEvent};
use super::status_command::{StatusCommand, StatusContext};
use super::terminal_io::read_input;
pub(super) use super::terminal_io::write_out;
use super::terminal_modes::{self, SessionModes};
use crate::args::PrintArgs;
use crate::config::config_toml::NotificationKind;
use crate::output::{SignalAction, SignalListener};
use crate::setup::RunSetup;
use crate::terminal::Color;
use crate::transcript::TranscriptRecorder;

/// Time between two frames while text arrives.
const FRAME: Duration = Duration::from_millis(16);

/// How long an escape character waits for the rest of a sequence.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(30);

/// How long a changed draft may be unsaved.
const DRAFT_DELAY: Duration = Duration::from_millis(80);

/// Time between two looks for answers that were given elsewhere.
const CHECK_INTERVAL: Duration = Duration::from_millis(400);

/// A session with everything it works with.
pub(super) struct SessionLoop {
    pub(super) print: PrintArgs,
    pub(super) setup: RunSetup,
    pub(super) session: Session,
    pub(super) model: SessionModel,
    /// The settings of the start.
    pub(super) initial_settings: Settings,
    pub(super) active: Option<ActiveRun>,
    /// Waits for the run that the result of a sub-agent in the background starts.
    pub(super) background_agents: Option<ActiveRun>,
    /// The command of the user that runs.
    pub(super) shell: Option<ShellCommand>,
    pub(super) background: BackgroundWatch,
    pub(super) transcript: Option<TranscriptRecorder>,
    pub(super) modes: SessionModes,
    pub(super) painter: Painter,
    pub(super) title: WindowTitle,
    notifications: NotificationKind,
    status_command: Option<StatusCommand>,
    /// Whether the conversation has entries.
    pub(super) has_begun: bool,
    pub(super) ending: Option<Ending>,
    /// Questions of the run that were answered here.
    pub(super) answered: Vec<QuestionPlace>,
    /// What the window shows, and since when.
    window: (WindowState, u64),
    decoder: KeyDecoder,
    started: Instant,
    next_frame: Option<Instant>,
    last_frame: Instant,
    escape_deadline: Option<Instant>,
    draft_deadline: Option<Instant>,
    /// When answers that were given elsewhere are looked for.
    pub(super) next_check: Option<Instant>,
    pub(super) role: SessionRole,
    saved_draft: Draft,
}

/// Why the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The user leaves.
    Left,
    Terminated,
    /// The terminal is gone.
    HungUp,
}

/// What the loop waits for.
pub(super) struct LoopSources {
    pub(super) input: AsyncFd<std::io::Stdin>,
    pub(super) signals: SignalListener,
    pub(super) resized: Signal,
    pub(super) notes: mpsc::Receiver<String>,
}

impl LoopSources {
    #[expect(deprecated, reason = "its successor is unsafe; standard input outlives the session")]
    pub(super) fn new(
        signals: SignalListener,
        notes: mpsc::Receiver<String>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            input: AsyncFd::new(std::io::stdin())?,
            signals,
            resized: signal(SignalKind::window_change())?,
            notes,
        })
    }
}

/// Something that happened.
enum Step {
    Signal(SignalAction),
    Input(Vec<u8>),
    InputEnded,
    Resized,
    Note(String),
    Hook(windlass::ports::HookMessage),
    Run(anyhow::Result<RunEvent>),
    /// Something happened while only sub-agents in the background work.
    BackgroundAgents(anyhow::Result<RunEvent>),
    Shell(ShellEvent),
    Background,
    StatusLine(Option<String>),
    Time,
}

/// The parts of a session that its start has made.
pub(super) struct SessionParts {
    pub(super) print: PrintArgs,
    pub(super) setup: RunSetup,
    pub(super) session: Session,
    pub(super) model: SessionModel,
    pub(super) modes: SessionModes,
    pub(super) painter: Painter,
    pub(super) has_begun: bool,
    pub(super) notifications: NotificationKind,
    /// The command that draws the status line.
    pub(super) status_command: Option<String>,
    pub(super) role: SessionRole,
}

/// What a session does with the runs of its conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SessionRole {
    /// It drives them, unless another process does.
    #[default]
    Driver,
    /// It watches those of other processes.
    Attached,
}

impl SessionLoop {
    pub(super) fn new(parts: SessionParts) -> Self {
        let SessionParts { print, setup, session, model, modes, painter, has_begun, .. } = parts;
        let variable = |name: &str| std::env::var(name).ok();
        let term = variable("TERM").unwrap_or_default();
        let now = Instant::now();
        let background = BackgroundWatch::start(&setup.workplace, session.lane());
        Self {
            print,
            initial_settings: setup.settings.clone(),
            setup,
            session,
            model,
            active: None,
            background_agents: None,
            shell: None,
            background,
            transcript: None,
            modes,
            painter,
            title: WindowTitle::new(&term),
            notifications: parts.notifications.resolve(variable),
            status_command: parts.status_command.map(StatusCommand::new),
            has_begun,
            ending: None,
            answered: Vec::new(),
            window: (WindowState::Idle, 0),
            decoder: KeyDecoder::default(),
            started: now,
            next_frame: Some(now),
            last_frame: now,
            escape_deadline: None,
            draft_deadline: None,
            next_check: None,
            role: parts.role,
            saved_draft: Draft::default(),
        }
    }

    /// Runs the session until it ends.
    pub(super) async fn run(mut self, mut sources: LoopSources) -> anyhow::Result<ExitCode> {
        let served = self.serve(&mut sources).await;
        Box::pin(self.leave(served)).await
    }

    async fn serve(&mut self, sources: &mut LoopSources) -> anyhow::Result<Ending> {
        loop {
            self.perform_actions(sources).await?;
            if let Some(ending) = self.ending {
                return Ok(ending);
            }
            let step = self.wait(sources).await?;
            self.model.now_ms = self.elapsed_ms();
            match step {
                Step::Signal(SignalAction::Terminate) => return Ok(Ending::Terminated),
                Step::Signal(SignalAction::HangUp) | Step::InputEnded => return Ok(Ending::HungUp),
                Step::Signal(SignalAction::Cancel | SignalAction::Abort) => {
                    self.model.on_key(&super::key_decoder::Key::Ctrl('c'));
                    self.next_frame = Some(Instant::now());
                }
                Step::Input(bytes) => self.on_input(&bytes),
                Step::Resized => self.on_resize()?,
                Step::Note(text) => self.add_note(&text),
                Step::Hook(message) => self.add_note(&crate::messages::hook_message(&message)),
                Step::Run(Ok(event)) => self.on_run_event(event).await?,
                Step::StatusLine(line) => {
                    self.model.status.custom = line;
                    self.want_frame();
                }
                Step::Shell(event) => self.on_shell_event(event),
                Step::Background => self.on_background_change(),
                Step::Run(Err(error)) => self.on_run_error(&error).await,
                Step::BackgroundAgents(event) => self.on_agent_event(event).await?,
                Step::Time => self.on_time().await?,
            }
            if let Some(text) = terminal_modes::take_panic_text() {
                self.model.view.add_note(Color::Red, &text);
            }
            self.draw_if_due()?;
        }
    }

    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn wait(&mut self, sources: &mut LoopSources) -> anyhow::Result<Step> {
        let wake = self.next_wake();
        let run = async {
            match &mut self.active {
                Some(active) => active.next().await,
                None => std::future::pending().await,
            }
        };
        let agents = async {
            match &mut self.background_agents {
                Some(agents) => agents.next().await,
                None => std::future::pending().await,
            }
        };
        let shell = async {
            match &mut self.shell {
                Some(shell) => shell.next().await,
                None => std::future::pending().await,
            }
        };
        let status = async {
            match &mut self.status_command {
                Some(command) => command.next().await,
                None => std::future::pending().await,
            }
        };
        let time = async {
            match wake {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let LoopSources { input, signals, resized, notes } = sources;
        Ok(tokio::select! {
            biased;
            sign = signals.next() => Step::Signal(sign),
            bytes = read_input(input) => bytes?.map_or(Step::InputEnded, Step::Input),
            _ = resized.recv() => Step::Resized,
            () = time => Step::Time,
            Some(text) = notes.recv() => Step::Note(text),
            message = self.setup.hook_messages.next() => Step::Hook(message),
            line = status => Step::StatusLine(line),
            event = shell => Step::Shell(event),
            () = self.background.changed() => Step::Background,
            event = run => Step::Run(event),
            event = agents => Step::BackgroundAgents(event),
        })
    }

    /// When something is due even if nothing happens.
    fn next_wake(&self) -> Option<Instant> {
        let is_busy = self.model.working.is_some() || self.model.shell.is_some();
        let spinner = is_busy.then(|| {
            let next = (self.elapsed_ms() / SPINNER_MS + 1) * SPINNER_MS;
            self.started + Duration::from_millis(next)
        });
        let due =
            [self.next_frame, self.escape_deadline, self.draft_deadline, self.next_check, spinner];
        due.into_iter().flatten().min()
    }

    fn on_input(&mut self, bytes: &[u8]) {
        for key in self.decoder.push(bytes) {
            self.model.on_key(&key);
        }
        let now = Instant::now();
        self.escape_deadline = self.decoder.is_waiting().then(|| now + ESCAPE_TIMEOUT);
        self.draft_deadline = self.draft_deadline.or(Some(now + DRAFT_DELAY));
        self.next_frame = Some(now);
    }

    async fn on_time(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        if self.escape_deadline.is_some_and(|at| at <= now) {
            self.escape_deadline = None;
            for key in self.decoder.flush() {
                self.model.on_key(&key);
            }
            self.next_frame = Some(now);
        }
        if self.draft_deadline.is_some_and(|at| at <= now) {
            self.save_draft();
        }
        if self.next_check.is_some_and(|at| at <= now) {
            self.check_answers().await?;
        }
        if self.model.working.is_some() || self.model.shell.is_some() {
            self.want_frame();
        }
        Ok(())
    }

    /// Looks again soon whether someone else has answered.
    pub(super) fn plan_check(&mut self) {
        let is_parked = self.active.as_ref().is_some_and(ActiveRun::is_parked);
        self.next_check = is_parked.then(|| Instant::now() + CHECK_INTERVAL);
    }

    fn on_resize(&mut self) -> anyhow::Result<()> {
        let (columns, rows) = super::terminal_size();
        self.model.resize(columns, rows);
        write_out(&self.painter.resize(columns, rows))?;
        self.next_frame = Some(Instant::now());
        Ok(())
    }

    pub(super) fn add_note(&mut self, text: &str) {
        self.model.view.add_note(Color::Dim, text);
        self.want_frame();
    }

    /// Draws soon: not more often than a screen can show.
    pub(super) fn want_frame(&mut self) {
        let at = (self.last_frame + FRAME).max(Instant::now());
        self.next_frame = Some(self.next_frame.map_or(at, |planned| planned.min(at)));
    }

    fn draw_if_due(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        match self.next_frame {
            Some(at) if at <= now => self.draw(),
            _ => Ok(()),
        }
    }

    pub(super) fn draw(&mut self) -> anyhow::Result<()> {
        self.next_frame = None;
        self.last_frame = Instant::now();
        self.model.now_ms = self.elapsed_ms();
        let finished = self.model.view.take_finished();
        let live = self.model.live_area();
        let mut out = self.painter.paint(&finished, live);
        out.push_str(&self.update_window());
        if let Some(command) = &mut self.status_command {
            let (session_id, folder) = (self.session.lane().session_id(), &*self.setup.workspace);
            command.refresh(&self.model.status, &StatusContext { session_id, folder });
        }
        write_out(&out)
    }

    /// The bytes that tell the window what happens, and notify when it waits for its user.
    fn update_window(&mut self) -> String {
        let state = match (self.model.panels.is_empty(), self.model.working) {
            (false, _) => WindowState::Asking,
            (true, Some(_)) => WindowState::Working,
            (true, None) => WindowState::Idle,
        };
        let before = std::mem::replace(&mut self.window, (state, self.model.now_ms));
        if before.0 == state {
            self.window.1 = before.1;
        }
        let took_ms = self.model.now_ms.saturating_sub(before.1);
        let told = match (before.0, state) {
            (WindowState::Working, WindowState::Asking) => "windlass has a question",
            (WindowState::Working, WindowState::Idle) if took_ms >= LONG_RUN_MS => {
                "windlass is done"
            }
            _ => "",
        };
        let title = self.title.update(state, &self.model.status.folder);
        let bell = if told.is_empty() { String::new() } else { self.notifications.bytes(told) };
        title + &bell
    }

    pub(super) async fn on_run_event(&mut self, event: RunEvent) -> anyhow::Result<()> {
        match event {
            RunEvent::Messages(messages) => {
                let mut is_recorded = false;
                for message in &messages {
                    is_recorded |= !matches!(message, Message::StreamEvent(_));
                    self.model.on_message(message);
                }
                if self.role == SessionRole::Attached {
                    self.on_watched_messages();
                }
                if is_recorded || messages.is_empty() {
                    self.update_status();
                    self.sync_own_panels();
                    self.sync_mode();
                }
            }
            RunEvent::Rested(outcome) => self.on_rest(*outcome).await?,
            RunEvent::WatchedRunEnded => self.on_watched_run_ended().await?,
        }
        self.want_frame();
        Ok(())
    }

    /// Another process did something: a run may have begun, or a sub-agent may ask.
    fn on_watched_messages(&mut self) {
        let has_run =
            self.active.as_ref().is_some_and(|active| active.conversation().run.is_some());
        if has_run && self.model.working.is_none() {
            self.model.begin_work();
        }
        self.next_check = self.next_check.or(Some(Instant::now() + CHECK_INTERVAL));
    }

    pub(super) fn update_status(&mut self) {
        if let Some(active) = &self.active {
            self.model.status.fill_usage(active.conversation());
        }
    }

    /// Reads a run as messages; `before` is the state before its first item.
    pub(super) fn message_reader(&self, before: Conversation) -> MessageReader {
        let options = MessageOptions {
            partial_messages: true,
            prompts: true,
            tool_progress: true,
            ..MessageOptions::default()
        };
        let reader = MessageReader::new(&self.session, before, &self.setup.settings, options);
        match &self.transcript {
            Some(transcript) => reader.with_observer(transcript.observer()),
            None => reader,
        }
    }

    /// Where the draft is kept.
    pub(super) fn draft_file(&self) -> Option<PathBuf> {
        let lane = self.has_begun.then(|| self.session.lane());
        session_files::draft_file(&self.setup.workspace, lane)
    }

    pub(super) fn save_draft(&mut self) {
        self.draft_deadline = None;
        let draft = self.model.draft();
        if draft != self.saved_draft
            && let Some(file) = self.draft_file()
        {
            session_files::write_draft(&file, &draft);
            self.saved_draft = draft;
        }
    }

    /// The conversation has its first entry: its draft has a file of its own from now on.
    pub(super) fn note_begun(&mut self) {
        if !self.has_begun {
            if let Some(file) = self.draft_file() {
                session_files::write_draft(&file, &Draft::default());
            }
            self.has_begun = true;
            self.saved_draft = Draft::default();
        }
    }
}
