//! Follows a run to its end: prints what happens, passes Ctrl-C on, and asks the person at the
//! terminal.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use windlass::core::log::ids::RunId;
use windlass::core::run::conversation::Conversation;
use windlass::messages::{MessageOptions, MessageReader};
use windlass::ports::{HookMessage, SessionEndReason};
use windlass::{RunOutcome, RunStream, Session, StopCause, StreamItem};

use super::answer_deadline::{DeadlineWatch, TimedQuestions};
use super::ask_person::{AnswerOutcome, ask_person};
use super::background_agents;
use super::json_output::JsonOutput;
use super::parked_run::ParkedRun;
use super::queued_prompts::{self, PrintedLog};
use super::retry_timeout::{ModelUnreachable, RetryTimeout};
use super::signals::{SignalAction, SignalListener};
use super::text_output::TextOutput;
use super::unwritten_output::{report_unwritten, report_unwritten_answer};
use crate::args::{AgentArgs, ToolStatePolicy, WhenAsked};
use crate::exit::ExitReason;
use crate::messages;
use crate::setup::{self, RunSetup};
use crate::terminal::print_note;
use crate::transcript::TranscriptRecorder;

/// Time between two updates of the progress line.
const DRAW_INTERVAL: Duration = Duration::from_millis(120);

/// Follows `run` and prints it. `signals` must be older than the run: a Ctrl-C in its first moment
/// would end the process and leave the run to whoever resumes it.
pub(crate) async fn follow_run(
    run: RunStream,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    signals: SignalListener,
) -> anyhow::Result<ExitCode> {
    let before = queued_prompts::find_other_active_run(session, setup, run.run()).await?;
    if before.is_some() && !args.output.is_for_programs() {
        print_note(messages::PROMPT_QUEUED);
    }
    follow_resumed_run(run, &before.unwrap_or_default(), (session, setup), args, signals).await
}

/// Follows and prints a run that had started before: `before` is the state at that time. In any
/// case hooks are told that this process no longer drives the conversation. `signals` must be older
/// than the run.
pub(crate) async fn follow_resumed_run(
    run: RunStream,
    before: &Conversation,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    mut signals: SignalListener,
) -> anyhow::Result<ExitCode> {
    // Boxed because it is large, and every command that drives something contains it.
    let watched =
        Box::pin(follow_until_done(run, before, (session, setup), args, &mut signals)).await;
    tokio::select! {
        biased;
        // A second signal does not wait for hooks.
        _ = signals.next() => {}
        () = session.close(SessionEndReason::Other) => {}
    }
    print_hook_messages(setup);
    watched
}

/// Follows and prints one run of several: the conversation stays open.
#[cfg(feature = "terminal")]
pub(crate) async fn follow_one_run(
    run: RunStream,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    mut signals: SignalListener,
) -> anyhow::Result<ExitCode> {
    let before = Conversation::default();
    let watched =
        Box::pin(follow_until_done(run, &before, (session, setup), args, &mut signals)).await;
    print_hook_messages(setup);
    watched
}

/// Prints queued messages of hooks while nothing else is printed.
pub(crate) fn print_hook_messages(setup: &RunSetup) {
    while let Some(message) = setup.hook_messages.take() {
        print_note(&messages::hook_message(&message));
    }
}

async fn follow_until_done(
    mut run: RunStream,
    before: &Conversation,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    signals: &mut SignalListener,
) -> anyhow::Result<ExitCode> {
    let mut view = RunView::new(&run, before, (session, setup), args).await?;
    loop {
        let mut interrupt =
            follow_stream(&mut run, session, setup, &mut view, signals, RunOrigin::Own).await?;
        let own = run.run().cloned();
        let end = run.wait_for_end().await?;
        let parked = ParkedRun::read(&end, own.as_ref(), (session, setup)).await?;
        if !parked.questions.is_empty() && setup.when_asked == WhenAsked::Prompt {
            view.pause();
            match ask_person(&parked.questions, setup, signals).await? {
                AnswerOutcome::AllAnswered => {
                    run = session.resume().await?;
                    continue;
                }
                AnswerOutcome::Signal(SignalAction::Terminate) => {
                    interrupt = FollowInterrupt::Terminated;
                }
                AnswerOutcome::Signal(SignalAction::HangUp) => interrupt = FollowInterrupt::HungUp,
                AnswerOutcome::Signal(SignalAction::Cancel | SignalAction::Abort)
                | AnswerOutcome::InputClosed => {}
            }
        }
        let lost = view.retry_timeout.exceeded_limit().cloned();
        let shown = match (&end, lost) {
            (RunOutcome::HandedOver, Some(lost)) => view.finish_unreachable(&lost, session),
            _ => view.finish(&end, &parked, session).await,
        };
        // After a cancel the process exits, even if another prompt is queued.
        let has_result =
            matches!(&end, RunOutcome::Finished(ended) if ended.cause != StopCause::UserCancel);
        if interrupt == FollowInterrupt::NotInterrupted && has_result && !signals.was_interrupted()
        {
            let printed = view.into_printed_log();
            queued_prompts::drive_queued_prompts((session, setup), args, signals, printed).await?;
            if setup::waits_for_background_agents(&args.output) {
                background_agents::follow_background_agents((session, setup), args, signals)
                    .await?;
            }
        }
        let exit = match interrupt {
            FollowInterrupt::Terminated => ExitReason::Terminated,
            FollowInterrupt::HungUp => ExitReason::HungUp,
            FollowInterrupt::ModelUnreachable
            | FollowInterrupt::OutputClosed
            | FollowInterrupt::LeftToOwner => ExitReason::Failure,
            FollowInterrupt::NotInterrupted => match ExitReason::from_outcome(&end) {
                // An answer that was complete before the interrupt counts.
                exit if exit.is_success() => exit,
                _ if signals.was_interrupted() => ExitReason::Interrupted,
                exit => exit,
            },
        };
        return match shown {
            Ok(()) => Ok(exit.to_exit_code()),
            Err(_) if interrupt == FollowInterrupt::OutputClosed => Ok(exit.to_exit_code()),
            Err(error) => report_unwritten_answer(error, session),
        };
    }
}

/// Whose run is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RunOrigin {
    /// The run of this command's prompt.
    Own,
    /// The run of a prompt that was queued behind it.
    Other,
}

/// Why following a run was interrupted from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowInterrupt {
    NotInterrupted,
    /// The run of another prompt is left to the process that sent it.
    LeftToOwner,
    /// The model stayed unreachable until the wait limit.
    ModelUnreachable,
    Terminated,
    /// The terminal is gone.
    HungUp,
    /// The reader of the output went away.
    OutputClosed,
}

pub(super) async fn follow_stream(
    run: &mut RunStream,
    session: &Session,
    setup: &RunSetup,
    view: &mut RunView,
    signals: &mut SignalListener,
    runs: RunOrigin,
) -> anyhow::Result<FollowInterrupt> {
    let mut draw = tokio::time::interval(DRAW_INTERVAL);
    let mut interrupt = FollowInterrupt::NotInterrupted;
    loop {
        let silence = view.deadlines.silence();
        tokio::select! {
            biased;
            sign = signals.next() => {
                interrupt = on_signal(Some(sign), interrupt, (run, runs), (session, setup), view).await?;
            }
            message = setup.hook_messages.next() => view.print_hook_message(&message),
            item = run.next() => match item? {
                Some(_) if interrupt != FollowInterrupt::NotInterrupted => {}
                Some(item) => match view.show(&item, run).await {
                    Err(error) => interrupt = leave_unwritten(error, session, setup)?,
                    Ok(()) if view.retry_timeout.is_exceeded() => interrupt = hand_over_and_leave(setup, FollowInterrupt::ModelUnreachable),
                    Ok(()) => {}
                },
                None => return Ok(interrupt),
            },
            shown = view.show_next_of_sub_agents() => if let Err(error) = shown {
                interrupt = leave_unwritten(error, session, setup)?;
            },
            () = silence, if interrupt == FollowInterrupt::NotInterrupted => {
                if let Some(timed) = view.deadlines.check(session, setup).await? {
                    view.begin_line();
                    let sign = answer_in_time(&timed, setup, signals).await?;
                    interrupt = on_signal(sign, interrupt, (run, runs), (session, setup), view).await?;
                }
            }
            _ = draw.tick(), if view.has_spinner() => view.draw(),
        }
    }
}

/// Does what a signal asks for; returns why following the run is interrupted then.
async fn on_signal(
    sign: Option<SignalAction>,
    interrupt: FollowInterrupt,
    (run, origin): (&RunStream, RunOrigin),
    (session, setup): (&Session, &RunSetup),
    view: &mut RunView,
) -> anyhow::Result<FollowInterrupt> {
    let run = run.run().cloned();
    match (sign, origin) {
        (None, _) => Ok(interrupt),
        // The run of another process is left to it, not cancelled.
        (Some(SignalAction::Cancel | SignalAction::Abort), RunOrigin::Other) => {
            Ok(hand_over_and_leave(setup, FollowInterrupt::LeftToOwner))
        }
        (Some(SignalAction::Cancel), RunOrigin::Own) => {
            cancel_run(session, run, view).await.map(|()| interrupt)
        }
        (Some(SignalAction::Abort), RunOrigin::Own) => {
            abort_run(session, run, view).await.map(|()| interrupt)
        }
        (Some(SignalAction::Terminate), _) => {
            Ok(hand_over_and_leave(setup, FollowInterrupt::Terminated))
        }
        (Some(SignalAction::HangUp), _) => Ok(hand_over_and_leave(setup, FollowInterrupt::HungUp)),
    }
}

/// Says what the run waits for, and asks the person at the terminal until the time is over. Returns
/// the signal that arrived instead of an answer.
async fn answer_in_time(
    timed: &TimedQuestions,
    setup: &RunSetup,
    signals: &mut SignalListener,
) -> anyhow::Result<Option<SignalAction>> {
    if setup.when_asked != WhenAsked::Prompt {
        print_note(&timed.notice());
        return Ok(None);
    }
    print_note(&timed.deadline_notice());
    let asking = ask_person(&timed.questions, setup, signals);
    match tokio::time::timeout(timed.remaining, asking).await {
        Ok(answered) => match answered? {
            AnswerOutcome::Signal(sign) => Ok(Some(sign)),
            AnswerOutcome::AllAnswered | AnswerOutcome::InputClosed => Ok(None),
        },
        Err(_elapsed) => Ok(None),
    }
}

/// Leaves the run to another process, because its output cannot be written.
fn leave_unwritten(
    error: anyhow::Error,
    session: &Session,
    setup: &RunSetup,
) -> anyhow::Result<FollowInterrupt> {
    report_unwritten(&error.downcast::<io::Error>()?, session);
    Ok(hand_over_and_leave(setup, FollowInterrupt::OutputClosed))
}

/// Cancels the run that was started here, and no other: it may be queued behind one of another
/// process.
async fn cancel_run(
    session: &Session,
    run: Option<RunId>,
    view: &mut RunView,
) -> anyhow::Result<()> {
    view.begin_line();
    print_note(messages::CANCELLING);
    Ok(session.cancel(run).await?)
}

async fn abort_run(
    session: &Session,
    run: Option<RunId>,
    view: &mut RunView,
) -> anyhow::Result<()> {
    view.begin_line();
    print_note(messages::ABORTING);
    Ok(session.abort(run).await?)
}

/// Stops driving here; another process can resume the run. Nothing is lost: the log is in the
/// store.
fn hand_over_and_leave(setup: &RunSetup, interrupt: FollowInterrupt) -> FollowInterrupt {
    setup.windlass.hand_over();
    interrupt
}

/// The output of a run, and how long to wait for an unreachable model.
pub(super) struct RunView {
    mode: ViewMode,
    printed: PrintedLog,
    deadlines: DeadlineWatch,
    retry_timeout: RetryTimeout,
    /// Reads the run for its transcript, if nothing else reads it as messages.
    written: Option<MessageReader>,
}

/// The output mode.
enum ViewMode {
    Text(Box<TextOutput>),
    Json(Box<JsonOutput>),
    /// The one result was written already: nothing more is printed.
    Silent,
}

impl RunView {
    async fn new(
        run: &RunStream,
        before: &Conversation,
        (session, setup): (&Session, &RunSetup),
        args: &AgentArgs,
    ) -> anyhow::Result<Self> {
        let transcript = match args.tool_state {
            ToolStatePolicy::Kept => {
                TranscriptRecorder::open(session, &setup.workspace, None).await?
            }
            ToolStatePolicy::Discarded => None,
        };
        let first = run.conversation_before().await?;
        if !args.output.is_for_programs() {
            let live = TextOutput::new(args.output.verbose).with_open_calls(before);
            let written = transcript.map(|transcript| {
                let options = MessageOptions::default();
                let reader = MessageReader::new(session, first, &setup.settings, options);
                reader.with_observer(transcript.observer())
            });
            return Ok(Self { written, ..Self::with_mode(ViewMode::Text(Box::new(live)), setup) });
        }
        let frames = JsonOutput::new(session, first, &setup.settings, &args.output);
        let mut frames = frames.for_run(run.run()).with_transcript(transcript.as_ref());
        frames.write_init(setup)?;
        Ok(Self::with_mode(ViewMode::Json(Box::new(frames)), setup))
    }

    fn with_mode(mode: ViewMode, setup: &RunSetup) -> Self {
        Self {
            mode,
            printed: PrintedLog::default(),
            deadlines: DeadlineWatch::new(),
            retry_timeout: RetryTimeout::new(&setup.settings),
            written: None,
        }
    }

    /// The output of a queued prompt; a program that has its result gets nothing more.
    pub(super) fn for_queued_prompt(
        before: &Conversation,
        setup: &RunSetup,
        args: &AgentArgs,
    ) -> Self {
        let mode = match args.output.is_for_programs() {
            true => ViewMode::Silent,
            false => {
                let live = TextOutput::new(args.output.verbose).with_open_calls(before);
                ViewMode::Text(Box::new(live.for_other_prompt()))
            }
        };
        Self::with_mode(mode, setup)
    }

    /// The output of a run that the result of a sub-agent in the background starts.
    pub(super) fn for_background_result(
        before: &Conversation,
        setup: &RunSetup,
        args: &AgentArgs,
    ) -> Self {
        let live = TextOutput::new(args.output.verbose).with_open_calls(before);
        Self::with_mode(ViewMode::Text(Box::new(live)), setup)
    }

    /// The part of the log that was printed.
    pub(super) fn into_printed_log(self) -> PrintedLog {
        self.printed
    }

    async fn show(&mut self, item: &StreamItem, run: &RunStream) -> anyhow::Result<()> {
        self.printed.observe(item, run);
        self.deadlines.reset();
        if let StreamItem::Entry(entry) = item {
            self.retry_timeout.observe(entry);
        }
        if let Some(written) = &mut self.written {
            written.read(item).await?;
        }
        match &mut self.mode {
            ViewMode::Text(live) => Ok(live.on_item(item, &self.retry_timeout)?),
            ViewMode::Json(frames) => frames.on_item(item).await,
            ViewMode::Silent => Ok(()),
        }
    }

    /// Shows the next messages of sub-agents; waits for ever if they are not shown.
    async fn show_next_of_sub_agents(&mut self) -> anyhow::Result<()> {
        match &mut self.mode {
            ViewMode::Json(frames) => frames.write_next_of_sub_agents().await,
            ViewMode::Text(_) | ViewMode::Silent => std::future::pending().await,
        }
    }

    /// Prints a message of a hook.
    fn print_hook_message(&mut self, message: &HookMessage) {
        let text = messages::hook_message(message);
        match &mut self.mode {
            ViewMode::Text(live) => live.print_note(&text),
            ViewMode::Json(_) | ViewMode::Silent => print_note(&text),
        }
    }

    fn has_spinner(&self) -> bool {
        matches!(&self.mode, ViewMode::Text(live) if live.has_spinner())
    }

    fn draw(&mut self) {
        if let ViewMode::Text(live) = &mut self.mode {
            live.draw();
        }
    }

    /// Ends an open line before something else is printed.
    fn begin_line(&mut self) {
        if let ViewMode::Text(live) = &mut self.mode {
            live.begin_line();
        }
    }

    fn pause(&mut self) {
        if let ViewMode::Text(live) = &mut self.mode {
            live.pause();
        }
    }

    pub(super) async fn finish(
        &mut self,
        end: &RunOutcome,
        parked: &ParkedRun,
        session: &Session,
    ) -> anyhow::Result<()> {
        match &mut self.mode {
            ViewMode::Text(live) => live.finish(end, parked, session).await,
            ViewMode::Json(frames) => frames.finish(end, parked),
            ViewMode::Silent => Ok(()),
        }
    }

    /// Ends the output of a run whose model stayed unreachable.
    fn finish_unreachable(
        &mut self,
        lost: &ModelUnreachable,
        session: &Session,
    ) -> anyhow::Result<()> {
        let text = messages::model_unreachable(lost, session.lane());
        match &mut self.mode {
            ViewMode::Text(live) => live.finish_unreachable(&text),
            ViewMode::Json(frames) => frames.finish_unreachable(&text),
            ViewMode::Silent => Ok(()),
        }
    }
}
