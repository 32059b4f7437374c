//! Follows a run to its end: prints what happens, passes Ctrl-C on, and asks the person at the
//! terminal.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use windlass::core::log::ids::RunId;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::Question;
use windlass::ports::SessionEndReason;
use windlass::{RunOutcome, RunStream, Session, StopCause, StreamItem};

use super::json_output::JsonOutput;
use super::question_prompt::{self, EndOfInput, ProjectContext, PromptLine};
use super::queued_prompts;
use super::retry_timeout::{ModelUnreachable, RetryTimeout};
use super::signals::{self, SignalAction, SignalListener};
use super::text_output::TextOutput;
use crate::args::{AgentArgs, WhenAsked};
use crate::exit::ExitReason;
use crate::messages;
use crate::setup::RunSetup;
use crate::terminal::print_note;

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
    let watched = follow_until_done(run, before, (session, setup), args, &mut signals).await;
    tokio::select! {
        biased;
        // A second signal does not wait for hooks.
        _ = signals.next() => {}
        () = session.close(SessionEndReason::Other) => {}
    }
    print_hook_messages(setup);
    watched
}

/// Prints queued messages of hooks while nothing else is printed.
pub(crate) fn print_hook_messages(setup: &RunSetup) {
    while let Some(text) = setup.hook_messages.take() {
        print_note(&messages::hook_message(&text));
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
        let end = run.wait_for_end().await?;
        if let (RunOutcome::Parked(questions), WhenAsked::Prompt) = (&end, setup.when_asked) {
            view.pause();
            match ask_person(questions, session, setup, signals).await? {
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
            _ => view.finish(&end, session).await,
        };
        // After a cancel the process exits, even if another prompt is queued.
        let has_result =
            matches!(&end, RunOutcome::Finished(ended) if ended.cause != StopCause::UserCancel);
        if interrupt == FollowInterrupt::NotInterrupted && has_result && !signals.was_interrupted()
        {
            queued_prompts::drive_queued_prompts((session, setup), args, signals).await?;
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

/// Reports that the answer could not be written; it is in the store. If the reader went away,
/// nothing is printed.
fn report_unwritten_answer(error: anyhow::Error, session: &Session) -> anyhow::Result<ExitCode> {
    match error.downcast::<io::Error>() {
        Ok(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                print_note(&messages::answer_output_failed(&error, session.lane()));
            }
            Ok(ExitReason::Failure.to_exit_code())
        }
        Err(error) => Err(error),
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

/// What happened to the questions for the person.
enum AnswerOutcome {
    /// All questions are answered: the run can continue.
    AllAnswered,
    /// The input was closed: the run stays parked.
    InputClosed,
    /// A signal arrived instead of an answer: the run stays parked.
    Signal(SignalAction),
}

/// Asks the person at the terminal; if they exit, the run stays parked.
async fn ask_person(
    questions: &[Question],
    session: &Session,
    setup: &RunSetup,
    signals: &mut SignalListener,
) -> anyhow::Result<AnswerOutcome> {
    let now = session.load_conversation().await?;
    let mut resumed = signals::listen_for_continue()?;
    for question in questions {
        let project = ProjectContext { folder: setup.workspace.clone(), trust: setup.trust };
        let prompt = PromptLine::default();
        let mut asking = Box::pin(question_prompt::ask_question(
            question.clone(),
            now.clone(),
            project,
            prompt.clone(),
        ));
        loop {
            tokio::select! {
                biased;
                sign = signals.next() => {
                    // The prompt is an unfinished line.
                    print_note("");
                    return Ok(AnswerOutcome::Signal(sign));
                }
                // After `fg` the question is shown again.
                _ = resumed.recv() => prompt.show(),
                answer = &mut asking => match answer {
                    Ok(answer) => {
                        session.answer(question.id, answer).await?;
                        break;
                    }
                    Err(error) if error.is::<EndOfInput>() => {
                        print_note("");
                        return Ok(AnswerOutcome::InputClosed);
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }
    Ok(AnswerOutcome::AllAnswered)
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
        tokio::select! {
            biased;
            sign = signals.next() => match sign {
                // The run of another process is left to it, not cancelled.
                SignalAction::Cancel | SignalAction::Abort if runs == RunOrigin::Other => {
                    interrupt = hand_over_and_leave(setup, FollowInterrupt::LeftToOwner);
                }
                SignalAction::Cancel => cancel_run(session, run.run().cloned(), view).await?,
                SignalAction::Abort => abort_run(session, run.run().cloned(), view).await?,
                SignalAction::Terminate => interrupt = hand_over_and_leave(setup, FollowInterrupt::Terminated),
                SignalAction::HangUp => interrupt = hand_over_and_leave(setup, FollowInterrupt::HungUp),
            },
            text = setup.hook_messages.next() => view.print_hook_message(&text),
            item = run.next() => match item? {
                Some(_) if interrupt != FollowInterrupt::NotInterrupted => {}
                Some(item) => match view.show(&item) {
                    Err(error) => {
                        report_unwritten(&error, session);
                        interrupt = hand_over_and_leave(setup, FollowInterrupt::OutputClosed);
                    }
                    Ok(()) if view.retry_timeout.is_exceeded() => interrupt = hand_over_and_leave(setup, FollowInterrupt::ModelUnreachable),
                    Ok(()) => {}
                },
                None => return Ok(interrupt),
            },
            _ = draw.tick(), if view.has_spinner() => view.draw(),
        }
    }
}

/// Reports that the output could not be written, for example because the disk is full. If the
/// reader went away, nothing is printed.
fn report_unwritten(error: &io::Error, session: &Session) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        print_note(&messages::output_failed(error, session.lane()));
    }
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
    retry_timeout: RetryTimeout,
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
        let retry_timeout = RetryTimeout::new(&setup.settings);
        if !args.output.is_for_programs() {
            let live = TextOutput::new(args.output.verbose).with_open_calls(before);
            return Ok(Self { mode: ViewMode::Text(Box::new(live)), retry_timeout });
        }
        let before = run.conversation_before().await?;
        let frames = JsonOutput::new(session.lane(), before, &setup.settings, &args.output);
        frames.write_init(setup);
        Ok(Self { mode: ViewMode::Json(Box::new(frames)), retry_timeout })
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
        Self { mode, retry_timeout: RetryTimeout::new(&setup.settings) }
    }

    fn show(&mut self, item: &StreamItem) -> io::Result<()> {
        if let StreamItem::Entry(entry) = item {
            self.retry_timeout.observe(entry);
        }
        match &mut self.mode {
            ViewMode::Text(live) => live.on_item(item, &self.retry_timeout),
            ViewMode::Json(frames) => frames.on_item(item),
            ViewMode::Silent => Ok(()),
        }
    }

    /// Prints a message of a hook.
    fn print_hook_message(&mut self, text: &str) {
        let text = messages::hook_message(text);
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
        session: &Session,
    ) -> anyhow::Result<()> {
        match &mut self.mode {
            ViewMode::Text(live) => live.finish(end, session).await,
            ViewMode::Json(frames) => frames.finish(end),
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
