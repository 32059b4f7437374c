//! Sub-agents in the background: the process that printed an answer stays until they have returned,
//! and prints the runs that their results start.

use std::time::Duration;

use windlass::Session;
use windlass::core::run::conversation::Conversation;

use super::follow_run::{FollowInterrupt, RunOrigin, RunView, follow_stream};
use super::parked_run::ParkedRun;
use super::signals::SignalListener;
use crate::args::AgentArgs;
use crate::messages;
use crate::setup::RunSetup;
use crate::terminal::print_note;

/// The variable that bounds how long the process waits for a sub-agent in the background, in
/// milliseconds; 0 is without a bound.
const WAIT_VARIABLE: &str = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS";

/// How long the process waits unless the variable says otherwise.
const DEFAULT_WAIT: Duration = Duration::from_mins(10);

/// Follows the conversation until no sub-agent works in the background. What is left when the wait is
/// over, or after a signal, continues with the next process that drives the conversation.
pub(super) async fn follow_background_agents(
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    signals: &mut SignalListener,
) -> anyhow::Result<()> {
    loop {
        let now = session.load_conversation().await?;
        let working = now.background_children().count();
        if working == 0 && now.run.is_none() {
            return Ok(());
        }
        if working > 0 && now.run.is_none() {
            print_note(&messages::waiting_for_background_agents(working));
        }
        let followed = follow_next((session, setup), &now, args, signals);
        match tokio::time::timeout(wait_limit(), followed).await {
            Ok(followed) => {
                if !followed? {
                    return Ok(());
                }
            }
            Err(_elapsed) => {
                setup.windlass.hand_over();
                print_note(&messages::background_agents_left(session.lane()));
                return Ok(());
            }
        }
    }
}

/// Prints the next run; returns whether to go on.
async fn follow_next(
    (session, setup): (&Session, &RunSetup),
    now: &Conversation,
    args: &AgentArgs,
    signals: &mut SignalListener,
) -> anyhow::Result<bool> {
    let mut run = session.follow_next_run(now.head).await?;
    let mut view = RunView::for_background_result(now, setup, args);
    let interrupt =
        follow_stream(&mut run, session, setup, &mut view, signals, RunOrigin::Other).await?;
    if interrupt != FollowInterrupt::NotInterrupted {
        print_note(&messages::background_agents_left(session.lane()));
        return Ok(false);
    }
    let own = run.run().cloned();
    let end = run.wait_for_end().await?;
    let parked = ParkedRun::read(&end, own.as_ref(), (session, setup)).await?;
    view.finish(&end, &parked, session).await?;
    Ok(matches!(end, windlass::RunOutcome::Finished(_)))
}

fn wait_limit() -> Duration {
    let given = std::env::var(WAIT_VARIABLE).ok().and_then(|value| value.parse().ok());
    match given {
        Some(0) => Duration::MAX,
        Some(ms) => Duration::from_millis(ms),
        None => DEFAULT_WAIT,
    }
}
