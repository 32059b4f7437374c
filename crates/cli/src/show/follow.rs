//! Follows a run to its end: shows what happens, passes Ctrl-C on, and asks whoever sits there.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use windlass::core::question::Question;
use windlass::{End, Item, RunStream, Session};

use super::frames::Frames;
use super::live::Live;
use super::prompter::Project;
use super::signals::{Sign, Signals};
use super::{note, prompter, result};
use crate::args::{AgentArgs, OutputFormat, WhenAsked};
use crate::setup::Setup;
use crate::words;

/// How often a waiting terminal is drawn.
const DRAW: Duration = Duration::from_millis(120);

/// Exit codes of processes that a signal ended, as shells know them.
const TERMINATED: u8 = 143;
const HUNG_UP: u8 = 129;

/// Follows `run` and prints it. Exit code 0 means that there is a result.
pub(crate) async fn watch(
    mut run: RunStream,
    session: &Session,
    setup: &Setup,
    args: &AgentArgs,
) -> anyhow::Result<ExitCode> {
    let mut view = View::new(session, setup, args).await?;
    let mut signals = Signals::new()?;
    loop {
        let told = follow(&mut run, session, setup, &mut view, &mut signals).await?;
        let end = run.end().await?;
        if let (End::Parked(questions), WhenAsked::Prompt) = (&end, setup.when_asked) {
            view.pause();
            if answered(questions, session, setup, &mut signals).await? {
                run = session.resume().await?;
                continue;
            }
        }
        let shown = view.finish(&end, session).await;
        return match told {
            Told::Terminate => Ok(ExitCode::from(TERMINATED)),
            Told::HungUp => Ok(ExitCode::from(HUNG_UP)),
            Told::NobodyReads => Ok(ExitCode::FAILURE),
            Told::Nothing if result::is_success(&end) => shown.map(|()| ExitCode::SUCCESS),
            Told::Nothing => shown.map(|()| ExitCode::FAILURE),
        };
    }
}

/// What the process was told from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Terminate,
    /// The terminal is gone.
    HungUp,
    /// Whoever read what is printed went away.
    NobodyReads,
}

/// Asks whoever sits there. Somebody who leaves instead leaves the run waiting.
async fn answered(
    questions: &[Question],
    session: &Session,
    setup: &Setup,
    signals: &mut Signals,
) -> anyhow::Result<bool> {
    let now = session.conversation().await?;
    for question in questions {
        let project = Project { folder: setup.workspace.clone(), trust: setup.trust };
        let asking = prompter::ask(question.clone(), now.clone(), project);
        tokio::select! {
            biased;
            _ = signals.next() => return Ok(false),
            answer = asking => session.answer(question.id, answer?).await?,
        };
    }
    Ok(true)
}

async fn follow(
    run: &mut RunStream,
    session: &Session,
    setup: &Setup,
    view: &mut View,
    signals: &mut Signals,
) -> anyhow::Result<Told> {
    let mut draw = tokio::time::interval(DRAW);
    let mut told = Told::Nothing;
    loop {
        tokio::select! {
            biased;
            sign = signals.next() => match sign {
                Sign::Cancel => cancel(session).await?,
                Sign::Abort => abort(session).await?,
                Sign::Terminate => told = leave(setup, Told::Terminate),
                Sign::HangUp => told = leave(setup, Told::HungUp),
            },
            item = run.next() => match item? {
                Some(_) if told != Told::Nothing => {}
                Some(item) if view.show(&item).is_ok() => {}
                Some(_) => told = leave(setup, Told::NobodyReads),
                None => return Ok(told),
            },
            _ = draw.tick(), if view.is_drawn() => view.draw(),
        }
    }
}

async fn cancel(session: &Session) -> anyhow::Result<()> {
    note(words::CANCELLING);
    Ok(session.cancel(None).await?)
}

async fn abort(session: &Session) -> anyhow::Result<()> {
    note(words::ABORTING);
    Ok(session.abort(None).await?)
}

/// Stops here and now; whoever resumes the conversation goes on with it. Nothing is lost: what
/// happened is in the store.
fn leave(setup: &Setup, told: Told) -> Told {
    setup.windlass.hand_over();
    told
}

/// How the run is shown.
enum View {
    Text(Box<Live>),
    Frames(Box<Frames>),
}

impl View {
    async fn new(session: &Session, setup: &Setup, args: &AgentArgs) -> anyhow::Result<Self> {
        if !args.output.is_for_programs() {
            return Ok(Self::Text(Box::new(Live::new(args.output.verbose))));
        }
        let frames =
            Frames::new(session, setup, args, args.output.format() == OutputFormat::StreamJson)
                .await?;
        frames.init();
        Ok(Self::Frames(Box::new(frames)))
    }

    fn show(&mut self, item: &Item) -> io::Result<()> {
        match self {
            Self::Text(live) => live.show(item),
            Self::Frames(frames) => frames.show(item),
        }
    }

    fn is_drawn(&self) -> bool {
        matches!(self, Self::Text(live) if live.is_drawn())
    }

    fn draw(&mut self) {
        if let Self::Text(live) = self {
            live.draw();
        }
    }

    fn pause(&mut self) {
        if let Self::Text(live) = self {
            live.pause();
        }
    }

    async fn finish(&mut self, end: &End, session: &Session) -> anyhow::Result<()> {
        match self {
            Self::Text(live) => live.finish(end, session).await,
            Self::Frames(frames) => frames.finish(end),
        }
    }
}
