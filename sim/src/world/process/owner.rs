//! Somebody who sends a prompt and holds the stream of its run.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::ids::{LaneId, RunId};
use windlass_core::question::Question;
use windlass_runtime::feed::Item;
use windlass_runtime::{End, RunStream, Session};

use crate::world::clock::nap;
use crate::world::event::Pace;
use crate::world::shared::{Asked, Shared};
use crate::world::witness::OwnerEnd;

/// Tries to send one prompt this often.
const TRIES: u32 = 3;

pub(super) async fn send(shared: Arc<Shared>, session: Session, run: RunId, pace: Pace) {
    for _ in 0..TRIES {
        let text = format!("{run}: haul the anchor, שלום");
        match session.send_as(run.clone(), vec![Block::text(&text)]).await {
            Ok(stream) => return hold(&shared, session.lane(), stream, pace).await,
            // Nobody knows whether it was accepted: the same key again is safe.
            Err(_) => nap(20).await,
        }
    }
}

/// Reads a stream to its end and tells the witness what came.
pub(super) async fn hold(shared: &Shared, lane: &LaneId, mut stream: RunStream, pace: Pace) {
    let run = stream.run().cloned();
    let mut ended = Vec::new();
    let mut after_end = 0;
    let mut items = 0;
    let end = loop {
        match pace {
            Pace::Drops(most) if items >= most => return,
            Pace::Detaches => return stream.detach(),
            Pace::Slow(ms) => nap(ms).await,
            Pace::Eager | Pace::Drops(_) => {}
        }
        items += 1;
        match stream.next().await {
            Ok(Some(item)) => note(item, run.as_ref(), &mut ended, &mut after_end),
            Ok(None) => break stream.end().await,
            Err(error) => break Err(error),
        }
    };
    if let Ok(End::Parked(questions)) = &end {
        questions.iter().for_each(|question| report(shared, lane, question));
    }
    shared.witness.owner_end(OwnerEnd { run, ended, after_end, end });
}

/// Puts what the run waits for on the desk of whoever answers.
fn report(shared: &Shared, lane: &LaneId, question: &Question) {
    let _ = shared.desk.send(Asked { lane: lane.clone(), question: question.clone() });
}

fn note(item: Item, run: Option<&RunId>, ended: &mut Vec<RunId>, after_end: &mut usize) {
    let is_mine = |other: &RunId| run.is_none_or(|run| run == other);
    if ended.iter().any(is_mine) {
        *after_end += 1;
    }
    if let Item::Ended(end) = item {
        ended.push(end.run.clone());
    }
}
