//! Follows a run to its end: shows what happens, passes Ctrl-C on, and asks whoever sits there.

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass::{End, Item, RunStream, Session};

use super::frames::Frames;
use super::live::Live;
use super::{note, prompter, result};
use crate::args::{AgentArgs, OutputFormat, WhenAsked};
use crate::setup::Setup;
use crate::{setup, words};

/// How often a waiting terminal is drawn.
const DRAW: Duration = Duration::from_millis(120);

/// Exit code of a process that SIGTERM ended.
const TERMINATED: u8 = 143;

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
            let now = session.conversation().await?;
            for question in questions {
                let answer = prompter::ask(question, &now, &setup.workspace)?;
                session.answer(question.id, answer).await?;
            }
            run = session.resume().await?;
            continue;
        }
        view.finish(&end, session).await?;
        return Ok(match told {
            Told::Terminate => ExitCode::from(TERMINATED),
            Told::Nothing if result::is_success(&end) => ExitCode::SUCCESS,
            Told::Nothing => ExitCode::FAILURE,
        });
    }
}

/// What the process was told from outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Terminate,
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
            _ = signals.interrupt.recv() => signals.interrupted(session).await?,
            _ = signals.terminate.recv() => {
                told = Told::Terminate;
                setup.windlass.hand_over();
            }
            item = run.next() => match item? {
                Some(item) => view.show(&item)?,
                None => return Ok(told),
            },
            _ = draw.tick(), if view.is_drawn() => view.draw(),
        }
    }
}

/// Signals, listened for from the beginning.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    interrupts: u32,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            interrupts: 0,
        })
    }

    /// Once cancels cooperatively, twice aborts.
    async fn interrupted(&mut self, session: &Session) -> anyhow::Result<()> {
        self.interrupts = self.interrupts.saturating_add(1);
        match self.interrupts {
            1 => {
                note(words::CANCELLING);
                session.cancel(None).await?;
            }
            _ => {
                note(words::ABORTING);
                session.abort(None).await?;
            }
        }
        Ok(())
    }
}

/// How the run is shown.
enum View {
    Text(Box<Live>),
    Frames(Box<Frames>),
}

impl View {
    async fn new(session: &Session, setup: &Setup, args: &AgentArgs) -> anyhow::Result<Self> {
        let format = args.output.output_format;
        if !setup::is_for_programs(format) {
            return Ok(Self::Text(Box::new(Live::new(args.output.verbose))));
        }
        let frames = Frames::new(session, setup, args, format == OutputFormat::StreamJson).await?;
        frames.init();
        Ok(Self::Frames(Box::new(frames)))
    }

    fn show(&mut self, item: &Item) -> anyhow::Result<()> {
        match self {
            Self::Text(live) => Ok(live.show(item)?),
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
