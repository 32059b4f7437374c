//! What waited behind a run: whoever drives a conversation begins with it at once. A process that
//! ended with its own result would tear it from its work, so it is seen to its end first.

use windlass::core::conversation::Conversation;
use windlass::core::ids::RunId;
use windlass::{End, Session};

use super::follow::{Runs, Told, View, follow};
use super::note;
use super::signals::Signals;
use crate::args::AgentArgs;
use crate::setup::Setup;
use crate::words;

/// Goes on until nothing is at work any more, or something needs somebody.
pub(super) async fn see_off(
    (session, setup): (&Session, &Setup),
    args: &AgentArgs,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    while is_at_work(session, setup).await? {
        if !args.output.is_for_programs() {
            note(words::GOING_ON);
        }
        let before = session.conversation().await?;
        let mut view = View::after_the_result(&before, setup, args);
        let mut run = session.resume().await?;
        let told = follow(&mut run, session, setup, &mut view, signals, Runs::OfOthers).await?;
        let end = run.end().await?;
        if told != Told::Nothing {
            break;
        }
        view.finish(&end, session).await?;
        if !matches!(end, End::Finished(_)) {
            break;
        }
    }
    Ok(())
}

/// The conversation, if a run of another prompt is active in it: the prompt waits behind that one.
pub(super) async fn another_run(
    session: &Session,
    setup: &Setup,
    own: Option<&RunId>,
) -> anyhow::Result<Option<Conversation>> {
    let lane = setup.store.lane(session.lane().clone()).await?;
    let active = lane.and_then(|lane| lane.active_run);
    match active.is_some_and(|active| Some(&active) != own) {
        true => Ok(Some(session.conversation().await?)),
        false => Ok(None),
    }
}

/// Whether a run is at work in this process. One of another process needs nobody here.
async fn is_at_work(session: &Session, setup: &Setup) -> anyhow::Result<bool> {
    if !session.is_driven_here() {
        return Ok(false);
    }
    let lane = setup.store.lane(session.lane().clone()).await?;
    Ok(lane.is_some_and(|lane| lane.active_run.is_some()))
}
