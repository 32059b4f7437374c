//! Prompts queued behind a run: the process that drives the conversation continues with them at
//! once. If it exited after its own result, it would interrupt them, so it drives them to their end
//! first.

use windlass::core::log::ids::RunId;
use windlass::core::run::conversation::Conversation;
use windlass::{RunOutcome, Session};

use super::follow_run::{FollowInterrupt, RunOrigin, RunView, follow_stream};
use super::signals::SignalListener;
use crate::args::AgentArgs;
use crate::messages;
use crate::setup::RunSetup;
use crate::terminal::print_note;

/// Drives queued prompts until no run is active, or a run needs an answer.
pub(super) async fn drive_queued_prompts(
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    signals: &mut SignalListener,
) -> anyhow::Result<()> {
    while is_driving(session, setup).await? {
        if !args.output.is_for_programs() {
            print_note(messages::RUNNING_QUEUED_PROMPT);
        }
        let before = session.load_conversation().await?;
        let mut view = RunView::for_queued_prompt(&before, setup, args);
        let mut run = session.resume().await?;
        let interrupt =
            follow_stream(&mut run, session, setup, &mut view, signals, RunOrigin::Other).await?;
        let end = run.wait_for_end().await?;
        if interrupt != FollowInterrupt::NotInterrupted {
            break;
        }
        view.finish(&end, session).await?;
        if !matches!(end, RunOutcome::Finished(_)) {
            break;
        }
    }
    Ok(())
}

/// Finds an active run of another prompt, behind which this prompt is queued.
pub(super) async fn find_other_active_run(
    session: &Session,
    setup: &RunSetup,
    own: Option<&RunId>,
) -> anyhow::Result<Option<Conversation>> {
    let lane = setup.store.lane_info(session.lane().clone()).await?;
    let active = lane.and_then(|lane| lane.active_run);
    match active.is_some_and(|active| Some(&active) != own) {
        true => Ok(Some(session.load_conversation().await?)),
        false => Ok(None),
    }
}

/// Returns whether this process drives an active run of the conversation.
async fn is_driving(session: &Session, setup: &RunSetup) -> anyhow::Result<bool> {
    if !session.is_driven_here() {
        return Ok(false);
    }
    let lane = setup.store.lane_info(session.lane().clone()).await?;
    Ok(lane.is_some_and(|lane| lane.active_run.is_some()))
}
