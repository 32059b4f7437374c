//! Follows a run to its end: shows what happens, passes Ctrl-C on, and asks whoever sits there.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use windlass::core::conversation::Conversation;
use windlass::core::ids::RunId;
use windlass::core::question::Question;
use windlass::ports::SessionEndReason;
use windlass::{End, Item, RunStream, Session, StopCause};

use super::frames::Frames;
use super::live::Live;
use super::patience::{Lost, Patience};
use super::prompter::{EndOfInput, Project, PromptLine};
use super::signals::{Sign, Signals};
use super::{behind, note, prompter, signals};
use crate::args::{AgentArgs, WhenAsked};
use crate::exit::Exit;
use crate::setup::Setup;
use crate::words;

/// How often a waiting terminal is drawn.
const DRAW: Duration = Duration::from_millis(120);

/// Follows `run` and prints it.
pub(crate) async fn watch(
    run: RunStream,
    session: &Session,
    setup: &Setup,
    args: &AgentArgs,
) -> anyhow::Result<ExitCode> {
    let before = behind::another_run(session, setup, run.run()).await?;
    if before.is_some() && !args.output.is_for_programs() {
        note(words::WAITING_BEHIND);
    }
    watch_from(run, &before.unwrap_or_default(), (session, setup), args).await
}

/// The same for a run that had begun: `before` is how things stood. Whatever came of it, hooks hear
/// that this process is done with the conversation.
pub(crate) async fn watch_from(
    run: RunStream,
    before: &Conversation,
    (session, setup): (&Session, &Setup),
    args: &AgentArgs,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    let watched = watch_run(run, before, (session, setup), args, &mut signals).await;
    tokio::select! {
        biased;
        // Whoever is told to end once more does not wait for hooks.
        _ = signals.next() => {}
        () = session.end(SessionEndReason::Other) => {}
    }
    print_hook_messages(setup);
    watched
}

/// Prints what hooks said when nothing else is shown.
pub(crate) fn print_hook_messages(setup: &Setup) {
    while let Some(text) = setup.hook_messages.take() {
        note(&words::hook_message(&text));
    }
}

async fn watch_run(
    mut run: RunStream,
    before: &Conversation,
    (session, setup): (&Session, &Setup),
    args: &AgentArgs,
    signals: &mut Signals,
) -> anyhow::Result<ExitCode> {
    let mut view = View::new(&run, before, (session, setup), args).await?;
    loop {
        let mut told = follow(&mut run, session, setup, &mut view, signals, Runs::Own).await?;
        let end = run.end().await?;
        if let (End::Parked(questions), WhenAsked::Prompt) = (&end, setup.when_asked) {
            view.pause();
            match answered(questions, session, setup, signals).await? {
                Answered::Everything => {
                    run = session.resume().await?;
                    continue;
                }
                Answered::Signal(Sign::Terminate) => told = Told::Terminate,
                Answered::Signal(Sign::HangUp) => told = Told::HungUp,
                Answered::Signal(Sign::Cancel | Sign::Abort) | Answered::Nothing => {}
            }
        }
        let lost = view.patience.lost().cloned();
        let shown = match (&end, lost) {
            (End::HandedOver, Some(lost)) => view.leave_waiting(&lost, session),
            _ => view.finish(&end, session).await,
        };
        // Whoever cancelled wants to leave, also if another prompt waits.
        let has_result =
            matches!(&end, End::Finished(ended) if ended.cause != StopCause::UserCancel);
        if told == Told::Nothing && has_result && !signals.was_interrupted() {
            behind::see_off((session, setup), args, signals).await?;
        }
        let exit = match told {
            Told::Terminate => Exit::Terminated,
            Told::HungUp => Exit::HungUp,
            Told::NobodyAnswers | Told::NobodyReads | Told::Left => Exit::NoResult,
            Told::Nothing => match Exit::of(&end) {
                // An answer that was complete when somebody wanted to end is an answer.
                exit if exit.is_result() => exit,
                _ if signals.was_interrupted() => Exit::Interrupted,
                exit => exit,
            },
        };
        return match shown {
            Ok(()) => Ok(exit.code()),
            Err(_) if told == Told::NobodyReads => Ok(exit.code()),
            Err(error) => unread_answer(error, session),
        };
    }
}

/// The answer could not be written: it is in the store. A reader that went away knows.
fn unread_answer(error: anyhow::Error, session: &Session) -> anyhow::Result<ExitCode> {
    match error.downcast::<io::Error>() {
        Ok(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                note(&words::answer_unwritten(&error, session.lane()));
            }
            Ok(Exit::NoResult.code())
        }
        Err(error) => Err(error),
    }
}

/// Whose run is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// That of the prompt which was given here.
    Own,
    /// That of a prompt which waited behind it.
    OfOthers,
}

/// What the process was told from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    /// The run of another prompt is left to the process that gave it.
    Left,
    /// The model could not be asked for so long that nobody waits any longer.
    NobodyAnswers,
    Terminate,
    /// The terminal is gone.
    HungUp,
    /// Whoever read what is printed went away.
    NobodyReads,
}

/// What became of the questions to a person.
enum Answered {
    /// The run can go on.
    Everything,
    /// No answer will be typed: the run waits.
    Nothing,
    /// A signal came instead: the run waits.
    Signal(Sign),
}

/// Asks the person at the terminal. Somebody who leaves instead leaves the run waiting.
async fn answered(
    questions: &[Question],
    session: &Session,
    setup: &Setup,
    signals: &mut Signals,
) -> anyhow::Result<Answered> {
    let now = session.conversation().await?;
    let mut resumed = signals::resumed()?;
    for question in questions {
        let project = Project { folder: setup.workspace.clone(), trust: setup.trust };
        let prompt = PromptLine::default();
        let mut asking =
            Box::pin(prompter::ask(question.clone(), now.clone(), project, prompt.clone()));
        loop {
            tokio::select! {
                biased;
                sign = signals.next() => {
                    // The prompt is a line that was not ended.
                    note("");
                    return Ok(Answered::Signal(sign));
                }
                // Whoever comes back with `fg` sees what is asked.
                _ = resumed.recv() => prompt.show(),
                answer = &mut asking => match answer {
                    Ok(answer) => {
                        session.answer(question.id, answer).await?;
                        break;
                    }
                    Err(error) if error.is::<EndOfInput>() => {
                        note("");
                        return Ok(Answered::Nothing);
                    }
                    Err(error) => return Err(error),
                },
            }
        }
    }
    Ok(Answered::Everything)
}

pub(super) async fn follow(
    run: &mut RunStream,
    session: &Session,
    setup: &Setup,
    view: &mut View,
    signals: &mut Signals,
    runs: Runs,
) -> anyhow::Result<Told> {
    let mut draw = tokio::time::interval(DRAW);
    let mut told = Told::Nothing;
    loop {
        tokio::select! {
            biased;
            sign = signals.next() => match sign {
                // The run of another process is left to it, not ended.
                Sign::Cancel | Sign::Abort if runs == Runs::OfOthers => {
                    told = leave(setup, Told::Left);
                }
                Sign::Cancel => cancel(session, run.run().cloned(), view).await?,
                Sign::Abort => abort(session, run.run().cloned(), view).await?,
                Sign::Terminate => told = leave(setup, Told::Terminate),
                Sign::HangUp => told = leave(setup, Told::HungUp),
            },
            text = setup.hook_messages.next() => view.say(&text),
            item = run.next() => match item? {
                Some(_) if told != Told::Nothing => {}
                Some(item) => match view.show(&item) {
                    Err(error) => {
                        unwritten(&error, session);
                        told = leave(setup, Told::NobodyReads);
                    }
                    Ok(()) if view.patience.is_lost() => told = leave(setup, Told::NobodyAnswers),
                    Ok(()) => {}
                },
                None => return Ok(told),
            },
            _ = draw.tick(), if view.is_drawn() => view.draw(),
        }
    }
}

/// A reader that went away knows; a full disk is told.
fn unwritten(error: &io::Error, session: &Session) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        note(&words::unwritten(error, session.lane()));
    }
}

/// Ends the run that was started here, and no other: it may wait behind one of another process.
async fn cancel(session: &Session, run: Option<RunId>, view: &mut View) -> anyhow::Result<()> {
    view.begin_line();
    note(words::CANCELLING);
    Ok(session.cancel(run).await?)
}

async fn abort(session: &Session, run: Option<RunId>, view: &mut View) -> anyhow::Result<()> {
    view.begin_line();
    note(words::ABORTING);
    Ok(session.abort(run).await?)
}

/// Stops here and now; whoever resumes the conversation goes on with it. Nothing is lost: what
/// happened is in the store.
fn leave(setup: &Setup, told: Told) -> Told {
    setup.windlass.hand_over();
    told
}

/// How the run is shown, and for how long it is waited for.
pub(super) struct View {
    shown: Shown,
    patience: Patience,
}

/// As what it is shown.
enum Shown {
    Text(Box<Live>),
    Frames(Box<Frames>),
    /// There is one result, and it was told.
    Nothing,
}

impl View {
    async fn new(
        run: &RunStream,
        before: &Conversation,
        (session, setup): (&Session, &Setup),
        args: &AgentArgs,
    ) -> anyhow::Result<Self> {
        let patience = Patience::new(&setup.settings);
        if !args.output.is_for_programs() {
            let live = Live::new(args.output.verbose).after(before);
            return Ok(Self { shown: Shown::Text(Box::new(live)), patience });
        }
        let before = run.conversation_before().await?;
        let frames = Frames::new(session.lane(), before, &setup.settings, &args.output);
        frames.init(setup);
        Ok(Self { shown: Shown::Frames(Box::new(frames)), patience })
    }

    /// A program that has its result hears no more.
    pub(super) fn after_the_result(before: &Conversation, setup: &Setup, args: &AgentArgs) -> Self {
        let shown = match args.output.is_for_programs() {
            true => Shown::Nothing,
            false => {
                let live = Live::new(args.output.verbose).after(before);
                Shown::Text(Box::new(live.of_another_prompt()))
            }
        };
        Self { shown, patience: Patience::new(&setup.settings) }
    }

    fn show(&mut self, item: &Item) -> io::Result<()> {
        if let Item::Entry(entry) = item {
            self.patience.hear(entry);
        }
        match &mut self.shown {
            Shown::Text(live) => live.show(item, &self.patience),
            Shown::Frames(frames) => frames.show(item),
            Shown::Nothing => Ok(()),
        }
    }

    /// Says what a hook has to say.
    fn say(&mut self, text: &str) {
        let text = words::hook_message(text);
        match &mut self.shown {
            Shown::Text(live) => live.say(&text),
            Shown::Frames(_) | Shown::Nothing => note(&text),
        }
    }

    fn is_drawn(&self) -> bool {
        matches!(&self.shown, Shown::Text(live) if live.is_drawn())
    }

    fn draw(&mut self) {
        if let Shown::Text(live) = &mut self.shown {
            live.draw();
        }
    }

    /// What is said next does not stand behind what the model says.
    fn begin_line(&mut self) {
        if let Shown::Text(live) = &mut self.shown {
            live.begin_line();
        }
    }

    fn pause(&mut self) {
        if let Shown::Text(live) = &mut self.shown {
            live.pause();
        }
    }

    pub(super) async fn finish(&mut self, end: &End, session: &Session) -> anyhow::Result<()> {
        match &mut self.shown {
            Shown::Text(live) => live.finish(end, session).await,
            Shown::Frames(frames) => frames.finish(end),
            Shown::Nothing => Ok(()),
        }
    }

    /// The run waits for its provider, and nobody waits for the run.
    fn leave_waiting(&mut self, lost: &Lost, session: &Session) -> anyhow::Result<()> {
        let said = words::no_longer_waiting(lost, session.lane());
        match &mut self.shown {
            Shown::Text(live) => live.leave(&said),
            Shown::Frames(frames) => frames.leave(&said),
            Shown::Nothing => Ok(()),
        }
    }
}
