//! Performing an answer as one JSON document.

use windlass_runtime::ports::Clock;

use super::super::answer::{Answer, Fault, Step};
use super::asked::Order;
use super::block::Block;
use super::handler::Errand;
use super::head::Head;
use super::opening::Pace;
use super::outgoing::Outgoing;
use super::pieces;
use super::respond::{self, Reply};
use super::watch::Outcome;

/// How the steps came to an end.
enum End<'a> {
    Stop,
    Cut,
    Fault(&'a Fault),
}

/// Takes as long as the stream would have taken, and answers then.
pub(super) async fn perform(
    errand: Errand,
    order: &Order,
    head: Head,
    (answer, steps, pace): (&Answer, &[Step], Pace),
) -> Reply {
    let json = || order.whole(head, answer);
    match wait(steps, pace, errand.state.clock.as_ref()).await {
        End::Fault(fault) => errand.fault(fault).await,
        End::Cut => {
            errand.ticket.done(Outcome::Cut);
            Some(respond::json(200, Outgoing::half(&json())))
        }
        End::Stop => {
            let because = answer.stop.reason.clone();
            errand.ticket.done(Outcome::Answered { status: 200, because });
            Some(respond::json(200, Outgoing::whole(json())))
        }
    }
}

async fn wait<'a>(steps: &'a [Step], mut pace: Pace, clock: &dyn Clock) -> End<'a> {
    for step in steps {
        match step {
            Step::Delay(ms) => clock.sleep(*ms).await,
            Step::Pace(ms) => pace = Pace(*ms),
            Step::Cut | Step::CutInside => return End::Cut,
            Step::Fail(fault) => return End::Fault(fault),
            Step::Say(_) | Step::Think(_) | Step::Raw(_) => at_pace(step, pace, clock).await,
            Step::Call { .. } | Step::TruncatedCall { .. } => at_pace(step, pace, clock).await,
        }
    }
    End::Stop
}

async fn at_pace(step: &Step, Pace(ms): Pace, clock: &dyn Clock) {
    let pieces = Block::of(step).map_or(0, |block| pieces::of(block.streamed()).count());
    if ms > 0 {
        clock.sleep(ms.saturating_mul(pieces as u64)).await;
    }
}
