//! A client that sends a prompt and holds the stream of its run.

use std::sync::Arc;

use windlass_core::log::ids::{LaneId, RunId};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::run::question::Question;
use windlass_runtime::feed::StreamItem;
use windlass_runtime::{RunOutcome, RunStream, Session};

use crate::world::clock::sleep_virtual;
use crate::world::event::ReaderPace;
use crate::world::observation_log::OwnerEnd;
use crate::world::shared::{SeenQuestion, SharedWorld};

/// How often sending one prompt is tried.
const TRIES: u32 = 3;

pub(super) async fn send(shared: Arc<SharedWorld>, session: Session, run: RunId, pace: ReaderPace) {
    for _ in 0..TRIES {
        let text = format!("{run}: haul the anchor, שלום");
        match session.send_as(run.clone(), vec![ContentBlock::text(&text)]).await {
            Ok(stream) => return hold(&shared, session.lane(), stream, pace).await,
            // It is unknown whether the prompt was accepted: sending the same key again is safe.
            Err(_) => sleep_virtual(20).await,
        }
    }
}

/// Reads a stream to its end and records what arrived in the observation log.
pub(super) async fn hold(
    shared: &SharedWorld,
    lane: &LaneId,
    mut stream: RunStream,
    pace: ReaderPace,
) {
    let run = stream.run().cloned();
    let mut ended = Vec::new();
    let mut after_end = 0;
    let mut items = 0;
    let end = loop {
        match pace {
            ReaderPace::Drops(most) if items >= most => return,
            ReaderPace::Detaches => return stream.detach(),
            ReaderPace::Slow(ms) => sleep_virtual(ms).await,
            ReaderPace::Eager | ReaderPace::Drops(_) => {}
        }
        items += 1;
        match stream.next().await {
            Ok(Some(item)) => note(item, run.as_ref(), &mut ended, &mut after_end),
            Ok(None) => break stream.wait_for_end().await,
            Err(error) => break Err(error),
        }
    };
    if let Ok(RunOutcome::Parked(questions)) = &end {
        questions.iter().for_each(|question| report(shared, lane, question));
    }
    shared.observations.owner_end(OwnerEnd { run, ended, after_end, end });
}

/// Reports the question of a run to the simulated users.
fn report(shared: &SharedWorld, lane: &LaneId, question: &Question) {
    let _ = shared.desk.send(SeenQuestion { lane: lane.clone(), question: question.clone() });
}

fn note(item: StreamItem, run: Option<&RunId>, ended: &mut Vec<RunId>, after_end: &mut usize) {
    let is_mine = |other: &RunId| run.is_none_or(|run| run == other);
    if ended.iter().any(is_mine) {
        *after_end += 1;
    }
    if let StreamItem::RunEnded(end) = item {
        ended.push(end.run.clone());
    }
}
