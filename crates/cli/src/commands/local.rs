//! Prompts that are commands: answered here, without a model.

use std::process::ExitCode;

use anyhow::Context;

use super::sending::Then;
use super::{cancel, clear, compact, print};
use crate::args::Print;
use crate::exit::UsageError;
use crate::look::paper::Paper;
use crate::look::room::{Preview, preview};
use crate::look::story::Story;
use crate::look::{acts, local};
use crate::prompt::slash::{Name, Slash};
use crate::settle::model;
use crate::setup::{self, Asks, Setup};
use crate::show;

pub(crate) async fn answer(command: &Slash, print: &Print) -> anyhow::Result<ExitCode> {
    if command.name == Name::Clear {
        return clear::clear(print).await;
    }
    if command.name != Name::Help && is_new(print) {
        return Err(UsageError::of(anyhow::anyhow!(local::about_nothing(command.name))));
    }
    let old = print::earlier(print).await?;
    if let (Name::Cancel, Some(opened)) = (command.name, &old) {
        return cancel::cancel(Some(opened.lane.as_str()), &print.agent, Then::GoOn).await;
    }
    let mut setup = setup::start_on(old.clone(), &print.agent, Asks::Nobody).await?;
    let session = print::session(print, &setup, old).await?;
    let lane = session.lane().clone();
    // A conversation that /clear began, or one that is named for the first time, has no log yet.
    let has_begun = !is_new(print) && setup.store.lane(lane.clone()).await?.is_some();
    let story = match has_begun {
        false => Story::untold(lane),
        true => Story::read(setup.store.as_ref(), lane).await?,
    };
    if let Some(recorded) = &story.now.settings {
        setup.settings.model = recorded.model.clone();
    }
    let said = match command.name {
        Name::Cancel | Name::Clear | Name::Help => local::help(&setup.customs),
        Name::Cost => local::cost(&story),
        Name::Context => context(&story, &command.rest).await?,
        Name::Compact => make_room(&story, &setup, &command.rest).await?,
    };
    show::locally(command.name, &said, &story.now, (&session, &setup), &print.agent)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether no conversation is named that the command could be about.
pub(super) fn is_new(print: &Print) -> bool {
    print.resume.is_none() && !print.go_on && print.conversation.is_none()
}

/// How full the context is; with `--exact`, also what the provider counts.
async fn context(story: &Story, rest: &str) -> anyhow::Result<String> {
    let mut lines = room(story)?.lines(Paper::plain());
    match rest.trim() {
        "" => {}
        "--exact" => {
            let tokens = Box::pin(model::count_tokens(&story.now)).await?;
            lines.push(acts::counted_exactly(tokens));
        }
        other => return Err(UsageError::of(anyhow::anyhow!(acts::no_context_option(other)))),
    }
    Ok(lines.join("\n"))
}

fn room(story: &Story) -> anyhow::Result<Preview> {
    preview(&story.now).context(acts::NOTHING_SAID)
}

/// Asks for room, if there is any to be had.
async fn make_room(story: &Story, setup: &Setup, wishes: &str) -> anyhow::Result<String> {
    let planned = room(story)?;
    if !planned.makes_room() {
        return Ok(planned.nothing_done());
    }
    let keep = (!wishes.is_empty()).then_some(wishes);
    compact::ask(setup.store.as_ref(), story, keep).await?;
    Ok(acts::room_asked(&story.lane))
}
