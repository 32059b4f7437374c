//! The loop of the channel: takes prompts and control requests, runs one turn after the other, and
//! writes what happens.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use windlass::Settings;
use windlass::core::log::ids::RunId;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::run_settings::RunSettings;
use windlass::messages::{InitInfo, Message, MessageReader, ResultMessage, SystemEvent};
use windlass::ports::SessionEndReason;
use windlass::{RunOutcome, RunStream, Session};

use super::approvals::{AnswerStored, Approvals};
use super::background::BackgroundWatch;
use super::control_requests;
use super::conversation;
use super::frame_writer::{FrameWriter, OutputClosed};
use super::incoming::{PromptPriority, UserPrompt};
use super::input_pump::ChannelEvent;
use super::prompt_queue::PromptQueue;
use super::session_state::SessionState;
use super::side_frames::SideEvents;
use super::slash_commands::PromptMeaning;
use super::start::message_options;
use super::transcripts::Transcripts;
use super::turn::{Turn, TurnEvent, TurnStart};
use crate::args::PrintArgs;
use crate::exit::ExitReason;
use crate::output::{self, SignalAction, SignalListener};
use crate::prompt::prompt_content;
use crate::setup::{self, RunSetup};
use crate::terminal;

/// How long a run may take to stop at a step when this process is told to end.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(3);

/// The channel while it serves a conversation.
pub(super) struct Channel {
    pub(super) print: PrintArgs,
    pub(super) setup: RunSetup,
    /// The settings with which the session started.
    pub(super) initial_settings: Settings,
    pub(super) session: Session,
    pub(super) writer: FrameWriter,
    pub(super) state: Arc<SessionState>,
    pub(super) approvals: Approvals,
    pub(super) side_events: SideEvents,
    pub(super) transcripts: Transcripts,
    pub(super) queue: PromptQueue,
    pub(super) turn: Option<Turn>,
    /// Sub-agents that work in the background between two turns.
    pub(super) background: BackgroundWatch,
    /// MCP servers that the program has set while the session runs.
    pub(super) set_servers: BTreeSet<String>,
    /// Whether standard input has ended.
    pub(super) input_ended: bool,
    /// Whether the last result was an error.
    pub(super) last_is_error: bool,
    /// Whether a turn was started.
    pub(super) has_had_turn: bool,
}

/// What the loop waits for.
pub(super) struct ChannelSources {
    pub(super) events: mpsc::Receiver<ChannelEvent>,
    pub(super) answers: mpsc::Receiver<AnswerStored>,
    pub(super) signals: SignalListener,
}

/// Something that happened.
enum Step {
    Signal(SignalAction),
    Event(Option<ChannelEvent>),
    Answer(AnswerStored),
    SideEvent,
    Turn(anyhow::Result<TurnEvent>),
    BackgroundTimeout,
}

/// Why the loop ends before its work is done.
enum Ending {
    Signal(ExitReason),
}

impl Channel {
    /// Serves the channel until standard input has ended and nothing is left to do.
    pub(super) async fn serve(mut self, mut sources: ChannelSources) -> anyhow::Result<ExitCode> {
        let served = self.run_loop(&mut sources).await;
        self.approvals.withdraw_all();
        self.session.close(SessionEndReason::Other).await;
        conversation::remove_deleted(self.setup.store.as_ref()).await;
        match served {
            Ok(Some(Ending::Signal(reason))) => Ok(reason.to_exit_code()),
            Ok(None) if self.last_is_error => Ok(ExitReason::Failure.to_exit_code()),
            Ok(None) => Ok(ExitReason::Success.to_exit_code()),
            // The reader is gone: there is no one to tell.
            Err(error) if error.is::<OutputClosed>() => Ok(ExitReason::Failure.to_exit_code()),
            Err(error) => Err(error),
        }
    }

    async fn run_loop(&mut self, sources: &mut ChannelSources) -> anyhow::Result<Option<Ending>> {
        loop {
            self.start_next_turn().await?;
            if self.turn.is_none() && self.input_ended {
                return Ok(None);
            }
            match self.wait(sources).await {
                Step::Signal(sign) => {
                    if let Some(ending) = self.on_signal(sign).await? {
                        return Ok(Some(ending));
                    }
                }
                Step::Event(event) => self.on_event(event).await?,
                Step::Answer(stored) => self.on_answer(stored).await?,
                Step::SideEvent => self.write_side_events().await?,
                Step::Turn(Ok(event)) => self.on_turn_event(event).await?,
                Step::Turn(Err(error)) => self.fail_turn(&error).await?,
                Step::BackgroundTimeout => return Ok(None),
            }
        }
    }

    async fn wait(&mut self, sources: &mut ChannelSources) -> Step {
        let ChannelSources { events, answers, signals } = sources;
        let has_init = match &self.turn {
            Some(turn) => turn.allows_side_events(),
            None => self.has_had_turn,
        };
        let only_waits = self.input_ended && self.turn.as_ref().is_some_and(Turn::is_waiting);
        let timeout = self.background.timeout();
        let turn = async {
            match &mut self.turn {
                Some(turn) => turn.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            sign = signals.next() => Step::Signal(sign),
            event = events.recv(), if !self.input_ended => Step::Event(event),
            Some(stored) = answers.recv() => Step::Answer(stored),
            // The init frame is the first of a turn, and of the conversation.
            () = self.side_events.wait(), if has_init => Step::SideEvent,
            event = turn => Step::Turn(event),
            () = timeout, if only_waits => Step::BackgroundTimeout,
        }
    }

    pub(super) async fn on_event(&mut self, event: Option<ChannelEvent>) -> anyhow::Result<()> {
        match event {
            Some(ChannelEvent::Prompt(prompt)) => self.on_prompt(*prompt).await,
            Some(ChannelEvent::Request(request)) => {
                Ok(control_requests::handle(self, request).await?)
            }
            Some(ChannelEvent::Withdrawal) => Ok(()),
            Some(ChannelEvent::InputFailed(error)) => Err(error.into()),
            Some(ChannelEvent::InputEnded) | None => {
                self.input_ended = true;
                Ok(())
            }
        }
    }

    async fn on_prompt(&mut self, prompt: UserPrompt) -> anyhow::Result<()> {
        if prompt.priority == PromptPriority::Now && self.is_at_work() && prompt.content.is_ok() {
            return self.steer(prompt).await;
        }
        Ok(self.queue.push(prompt)?)
    }

    /// Sends a prompt to the run in progress.
    async fn steer(&mut self, prompt: UserPrompt) -> anyhow::Result<()> {
        let run = run_id(&prompt);
        let blocks = self.prompt_blocks(&prompt).await;
        Ok(self.session.steer_as(run, blocks).await?)
    }

    /// Starts the turn of the next prompt, if none is in progress.
    async fn start_next_turn(&mut self) -> anyhow::Result<()> {
        while !self.is_at_work() {
            let Some(prompt) = self.queue.pop() else { return self.watch_background().await };
            self.pause_background();
            self.state.set_running(self.session.lane().session_id(), true).await?;
            if let Err(error) = self.start_turn(&prompt).await {
                if error.is::<OutputClosed>() {
                    return Err(error);
                }
                self.write_failed_start(&prompt, &error).await?;
            }
        }
        Ok(())
    }

    async fn start_turn(&mut self, prompt: &UserPrompt) -> anyhow::Result<()> {
        if let Err(reason) = &prompt.content {
            anyhow::bail!("{reason}");
        }
        let stream = match self.handle_slash_command(prompt).await? {
            PromptMeaning::Done => return Ok(()),
            PromptMeaning::Compaction(kept) => self.start_compaction(kept.as_deref()).await?,
            PromptMeaning::Prompt => {
                let blocks = self.prompt_blocks(prompt).await;
                self.start_run(run_id(prompt), blocks, &self.setup.settings).await?
            }
            PromptMeaning::Custom { text, settings } => {
                let blocks = self.text_blocks(&text).await;
                self.start_run(run_id(prompt), blocks, &settings).await?
            }
        };
        let run = stream.run().cloned();
        let before = stream.conversation_before().await?;
        let open: Vec<_> =
            before.run.iter().flat_map(|run| run.open_questions().cloned()).collect();
        for question in &open {
            self.approvals.ask(&self.session, &before, question);
        }
        let transcript = self.transcripts.open(&self.session, &self.setup.workspace).await?;
        let reader = match self.background.take_reader(self.session.lane()) {
            Some(reader) => self.catch_up(reader, before.head).await?,
            None => {
                let reader = self.message_reader(before);
                match transcript {
                    Some(transcript) => reader.with_observer(transcript.observer()),
                    None => reader,
                }
            }
        };
        self.has_had_turn = true;
        self.turn = Some(Turn::new(
            self.session.clone(),
            TurnStart {
                stream,
                reader,
                run,
                init: self.init_info(),
                prompt_uuid: prompt.uuid.clone(),
                origin: prompt.origin.clone(),
            },
        ));
        Ok(())
    }

    /// Sends a prompt. A run that was interrupted continues, and gets the prompt on its way.
    async fn start_run(
        &self,
        run: RunId,
        blocks: Vec<ContentBlock>,
        settings: &Settings,
    ) -> anyhow::Result<RunStream> {
        if self.unfinished_run().await?.is_some() {
            self.session.steer_as(run, blocks).await?;
            return Ok(self.session.resume().await?);
        }
        let settings = RunSettings::from_settings(settings);
        Ok(self.session.send_as_with(run, blocks, settings).await?)
    }

    /// Compacts the conversation. In a run that was interrupted this comes before its next model
    /// call.
    async fn start_compaction(&self, kept: Option<&str>) -> anyhow::Result<RunStream> {
        if self.unfinished_run().await?.is_some() {
            self.session.compact(kept).await?;
            return Ok(self.session.resume().await?);
        }
        Ok(self.session.compact_now(kept).await?)
    }

    /// The init frame.
    pub(super) fn init_info(&self) -> InitInfo {
        output::init_info(&self.setup)
    }

    /// The run that an earlier process did not finish.
    async fn unfinished_run(&self) -> anyhow::Result<Option<RunId>> {
        let lane = self.setup.store.lane_info(self.session.lane().clone()).await?;
        Ok(lane.and_then(|lane| lane.active_run))
    }

    /// Reads the conversation as messages for the program.
    pub(super) fn message_reader(&self, before: Conversation) -> MessageReader {
        let options = message_options(&self.print);
        MessageReader::new(&self.session, before, &self.setup.settings, options)
    }

    /// The content of a prompt, with the files that it mentions.
    async fn prompt_blocks(&self, prompt: &UserPrompt) -> Vec<ContentBlock> {
        match prompt.as_text() {
            Some(text) if !prompt.is_verbatim => self.text_blocks(&text).await,
            _ => prompt.content.clone().unwrap_or_default(),
        }
    }

    async fn text_blocks(&self, text: &str) -> Vec<ContentBlock> {
        match prompt_content::build(text, &self.setup, self.session.lane()).await {
            Ok(blocks) => blocks,
            Err(error) => {
                terminal::print_note(&crate::messages::warning(&error.to_string()));
                vec![ContentBlock::text(text)]
            }
        }
    }

    async fn on_turn_event(&mut self, event: TurnEvent) -> anyhow::Result<()> {
        match event {
            TurnEvent::Progress { messages, questions } => {
                self.write_all(&messages).await?;
                if let Some(turn) = &self.turn {
                    for question in &questions {
                        self.approvals.ask(&self.session, turn.conversation(), question);
                    }
                }
                Ok(())
            }
            TurnEvent::Rested(RunOutcome::Parked(questions)) => self.on_parked(&questions).await,
            TurnEvent::Rested(outcome) => self.finish_turn(&outcome).await,
        }
    }

    /// The run waits for answers. All of its questions are being asked; those of sub-agents are
    /// asked here.
    async fn on_parked(
        &mut self,
        questions: &[windlass::core::run::question::Question],
    ) -> anyhow::Result<()> {
        let store = &self.setup.store;
        self.approvals.ask_unanswered(store, &self.session, questions).await?;
        for (lane, question) in self.session.child_questions().await?.unwrap_or_default() {
            let child = self.session.sibling(lane);
            self.approvals.ask_unanswered(store, &child, &[question]).await?;
        }
        // Answered while it parked.
        if !self.approvals.is_waiting() {
            self.resume_turn().await?;
        }
        Ok(())
    }

    async fn on_answer(&mut self, stored: AnswerStored) -> anyhow::Result<()> {
        if let Some(mode) = stored? {
            self.setup.settings.rules.mode = mode;
        }
        self.resume_turn().await
    }

    /// Continues a run that waited for an answer.
    pub(super) async fn resume_turn(&mut self) -> anyhow::Result<()> {
        match &mut self.turn {
            Some(turn) if turn.is_parked() => turn.resume().await,
            Some(_) | None => Ok(()),
        }
    }

    async fn finish_turn(&mut self, outcome: &RunOutcome) -> anyhow::Result<()> {
        let Some(mut turn) = self.turn.take() else { return Ok(()) };
        self.approvals.withdraw_all();
        let init = turn.take_init();
        self.write_all(&init).await?;
        let result = turn.result(outcome);
        self.background.keep_reader(self.session.lane(), turn.into_reader());
        self.write_result(result).await
    }

    /// Ends a turn that cannot go on, for example because the store fails.
    async fn fail_turn(&mut self, error: &anyhow::Error) -> anyhow::Result<()> {
        if error.is::<OutputClosed>() {
            return Err(OutputClosed.into());
        }
        let Some(mut turn) = self.turn.take() else { return Ok(()) };
        self.approvals.withdraw_all();
        let init = turn.take_init();
        self.write_all(&init).await?;
        let result = turn.error_result(&error_text(error));
        self.write_result(result).await
    }

    /// Writes the result of a prompt whose turn could not start.
    async fn write_failed_start(
        &mut self,
        prompt: &UserPrompt,
        error: &anyhow::Error,
    ) -> anyhow::Result<()> {
        let mut reader = self.message_reader(Conversation::default());
        let errors = vec![error_text(error)];
        let mut result = reader.projection().unfinished_result("error", errors);
        if let Some(origin) = &prompt.origin {
            result.more.insert("origin".to_owned(), origin.clone());
        }
        self.write_result(result).await
    }

    pub(super) async fn write_result(&mut self, result: ResultMessage) -> anyhow::Result<()> {
        self.last_is_error = result.is_error;
        self.write_side_events().await?;
        // A store of the program is complete before it learns the result.
        self.transcripts.write_mirror(&self.writer).await?;
        self.writer.send(&Message::Result(Box::new(result))).await?;
        let is_running = !self.queue.is_empty() || self.background.is_owed();
        Ok(self.state.set_running(self.session.lane().session_id(), is_running).await?)
    }

    pub(super) async fn write_all(&self, messages: &[Message]) -> Result<(), OutputClosed> {
        self.transcripts.write_mirror(&self.writer).await?;
        for message in messages {
            self.writer.send(message).await?;
        }
        Ok(())
    }

    /// Writes what happened beside the turns.
    async fn write_side_events(&mut self) -> Result<(), OutputClosed> {
        while let Some(event) = self.side_events.take() {
            self.write_event(event).await?;
        }
        Ok(())
    }

    /// Writes a system message.
    pub(super) async fn write_event(&mut self, event: SystemEvent) -> Result<(), OutputClosed> {
        let message = match &mut self.turn {
            Some(turn) => turn.system_message(event),
            None => {
                let mut reader = self.message_reader(Conversation::default());
                reader.projection().system_message(event)
            }
        };
        self.writer.send(&message).await
    }

    async fn on_signal(&mut self, sign: SignalAction) -> anyhow::Result<Option<Ending>> {
        let reason = match sign {
            SignalAction::Cancel | SignalAction::Abort => {
                self.interrupt_turn().await?;
                self.stop_watching();
                self.input_ended = true;
                return Ok(None);
            }
            SignalAction::Terminate => ExitReason::Terminated,
            SignalAction::HangUp => ExitReason::HungUp,
        };
        self.setup.windlass.hand_over();
        if let Some(turn) = &mut self.turn {
            let rested = async { while let Ok(TurnEvent::Progress { .. }) = turn.next().await {} };
            let _ = tokio::time::timeout(HAND_OVER_TIMEOUT, rested).await;
        }
        Ok(Some(Ending::Signal(reason)))
    }

    /// Stops the run of the turn in progress now.
    pub(super) async fn interrupt_turn(&mut self) -> anyhow::Result<()> {
        if let Some(turn) = &mut self.turn
            && let Some(run) = turn.run().cloned()
        {
            self.session.abort_keeping(Some(run), &turn.partial_reply()).await?;
            self.resume_turn().await?;
        }
        Ok(())
    }
}

/// The run of a prompt: it has the id of the message, so that a message that is sent twice is one
/// prompt.
fn run_id(prompt: &UserPrompt) -> RunId {
    let given = prompt.uuid.as_deref().map(RunId::from).filter(RunId::is_uuid);
    given.unwrap_or_else(|| RunId::from(setup::new_id()))
}

fn error_text(error: &anyhow::Error) -> String {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    terminal::sanitize_output(&chain.join(": "), terminal::ColorSupport::Disabled)
}
