//! Plays an answer as one JSON document.

use windlass_runtime::ports::Clock;

use super::answer_block::AnswerBlock;
use super::answer_start::StreamPace;
use super::parsed_request::ResponseSpec;
use super::pieces;
use super::request_handler::RequestContext;
use super::request_observer::ServedOutcome;
use super::respond::{self, MaybeResponse};
use super::response_body::ResponseBody;
use super::response_head::ResponseHead;
use crate::scripted_answer::{AnswerStep, ScriptedAnswer, ScriptedFault};

/// How the steps ended.
enum WholeAnswerEnd<'a> {
    Stop,
    Cut,
    Fault(&'a ScriptedFault),
}

/// Waits as long as the stream would have taken, and then responds.
pub(super) async fn respond_whole(
    errand: RequestContext,
    order: &ResponseSpec,
    head: ResponseHead,
    (answer, steps, pace): (&ScriptedAnswer, &[AnswerStep], StreamPace),
) -> MaybeResponse {
    let json = || order.encode_whole(head, answer);
    match play_steps(steps, pace, errand.state.clock.as_ref()).await {
        WholeAnswerEnd::Fault(fault) => errand.send_fault(fault).await,
        WholeAnswerEnd::Cut => {
            errand.ticket.finish(ServedOutcome::Cut);
            Some(respond::json_response(200, ResponseBody::half(&json())))
        }
        WholeAnswerEnd::Stop => {
            let reason = answer.stop.reason.clone();
            errand.ticket.finish(ServedOutcome::Answered { status: 200, reason });
            Some(respond::json_response(200, ResponseBody::whole(json())))
        }
    }
}

async fn play_steps<'a>(
    steps: &'a [AnswerStep],
    mut pace: StreamPace,
    clock: &dyn Clock,
) -> WholeAnswerEnd<'a> {
    for step in steps {
        match step {
            AnswerStep::Delay(ms) => clock.sleep(*ms).await,
            AnswerStep::Pace(ms) => pace = StreamPace(*ms),
            AnswerStep::Cut | AnswerStep::CutInside => return WholeAnswerEnd::Cut,
            AnswerStep::Fail(fault) => return WholeAnswerEnd::Fault(fault),
            AnswerStep::Say(_) | AnswerStep::Think(_) | AnswerStep::Raw(_) => {
                wait_for_pieces(step, pace, clock).await;
            }
            AnswerStep::Call { .. } | AnswerStep::TruncatedCall { .. } => {
                wait_for_pieces(step, pace, clock).await;
            }
        }
    }
    WholeAnswerEnd::Stop
}

async fn wait_for_pieces(step: &AnswerStep, StreamPace(ms): StreamPace, clock: &dyn Clock) {
    let pieces = AnswerBlock::from_step(step)
        .map_or(0, |block| pieces::split_pieces(block.streamed_text()).count());
    if ms > 0 {
        clock.sleep(ms.saturating_mul(pieces as u64)).await;
    }
}
