//! What the server does by itself: it delivers prompts whose time has come, fires schedules, and
//! sends messages to webhooks. Every server does all of it; the store decides who does what.

use std::time::Duration;

use tokio::time::Instant;
use windlass::DriveError;

use crate::router::ApiState;
use crate::{deferred_prompts, schedules, webhook_deliveries};

/// The pause between two passes without work.
const PAUSE: Duration = Duration::from_millis(500);

/// The pause after a pass that failed, for instance because the store does not respond.
const FAILURE_PAUSE: Duration = Duration::from_secs(2);

/// Works until the server is told to stop.
pub(crate) async fn run(state: ApiState) {
    // Messages to webhooks may take long to send, and prompts are not to wait for them.
    let prompts = run_passes(&state, || deliver_prompts(&state));
    let webhooks = run_passes(&state, || tell_webhooks(&state));
    tokio::join!(prompts, webhooks);
}

async fn run_passes<F>(state: &ApiState, pass: impl Fn() -> F)
where
    F: Future<Output = Result<usize, DriveError>>,
{
    loop {
        let passed = tokio::select! {
            () = state.stop.cancelled() => return,
            passed = pass() => passed,
        };
        let pause = match passed {
            Ok(0) => PAUSE,
            Ok(_) => Duration::ZERO,
            Err(error) => {
                tracing::warn!(target: "windlass::server", error = %error, "background_work_failed");
                FAILURE_PAUSE
            }
        };
        tokio::select! {
            () = state.stop.cancelled() => return,
            () = tokio::time::sleep_until(Instant::now() + pause) => {}
        }
    }
}

async fn deliver_prompts(state: &ApiState) -> Result<usize, DriveError> {
    let delivered = deferred_prompts::deliver_due(&state.windlass).await?;
    Ok(delivered + schedules::fire_due(state).await?)
}

async fn tell_webhooks(state: &ApiState) -> Result<usize, DriveError> {
    let store = state.windlass.store();
    let created = webhook_deliveries::create_messages(store).await?;
    let reminded = webhook_deliveries::remind(store).await?;
    let sent = webhook_deliveries::send_due(store, &*state.outbound).await?;
    state.metrics.count_webhooks(sent);
    Ok(created + reminded)
}
