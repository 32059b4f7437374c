//! A hostile model: it fails in every class, stops for every reason, announces calls that never
//! come, repeats ids, invents tools and counts its tokens wrongly.

mod blocks;
mod reply;

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::ids::{AskId, LaneId};
use windlass_core::input::{Failure, FailureClass};
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_runtime::ports::{Model, Stream, Task};

use super::clock::nap;
use super::dice::Dice;
use super::gate::{Door, Gate, Life};
use super::shared::{Shared, lane_in};

/// The number of a call that stands beside the conversation.
const BESIDE: AskId = 0;

pub(crate) struct HostileModel {
    pub(crate) shared: Arc<Shared>,
    pub(crate) gate: Arc<Gate>,
}

impl HostileModel {
    async fn answer(&self, request: Request, stream: Arc<dyn Stream>) -> Result<Reply, Failure> {
        if self.gate.life() == Life::Dead {
            std::future::pending::<()>().await;
        }
        if request.ask == BESIDE {
            return self.aside(request).await;
        }
        let lane = lane_of(&request);
        let subject = format!("{lane:?} {} {}", request.ask, self.shared.wall.elapsed_ms());
        let mut dice = Dice::about(self.shared.plan.seed, &subject);
        self.shared.witness.request(lane.clone(), request.clone());
        let name =
            lane.map_or_else(|| "L?".to_owned(), |lane| lane.as_str().replace("conversation:", ""));
        let mood = self.shared.plan.model;
        self.think(dice.below(120)).await;
        if let Some(failure) = self.failure(&mut dice) {
            self.announce(&stream, &reply::draw(&mut dice, mood, &name, &request), &mut dice).await;
            return Err(failure);
        }
        let reply = reply::draw(&mut dice, mood, &name, &request);
        self.speak(&stream, &reply, mood.pieces).await;
        if dice.chance(mood.early_percent) {
            self.announce(&stream, &reply, &mut dice).await;
        }
        Ok(reply)
    }

    /// A summary or an opinion: short, long, junk, or nothing.
    async fn aside(&self, request: Request) -> Result<Reply, Failure> {
        let at_ms = self.shared.wall.elapsed_ms();
        let subject = format!("aside {at_ms} {}", request.transcript.bytes());
        let mut dice = Dice::about(self.shared.plan.seed, &subject);
        self.shared.witness.request(None, request.clone());
        self.think(dice.below(120)).await;
        match self.failure(&mut dice) {
            Some(failure) => Err(failure),
            None => Ok(reply::aside(&mut dice, self.shared.plan.model, &request)),
        }
    }

    async fn think(&self, ms: u64) {
        nap(ms).await;
        self.gate.pass(Door::Work).await;
    }

    async fn speak(&self, stream: &Arc<dyn Stream>, reply: &Reply, pieces: u64) {
        for _ in 0..pieces {
            stream.text("piece ");
            stream.thinking("hm ");
        }
        if reply.blocks.len() > 1 {
            self.think(5).await;
        }
    }

    /// Reports blocks while it goes on streaming; at times others than it will send.
    async fn announce(&self, stream: &Arc<dyn Stream>, reply: &Reply, dice: &mut Dice) {
        for (index, block) in (0u16..).zip(&reply.blocks) {
            if dice.chance(5) {
                stream.block(index, &Block::new(blocks::other_call()));
            } else {
                stream.block(index, block);
            }
            self.think(dice.below(60)).await;
        }
    }

    fn failure(&self, dice: &mut Dice) -> Option<Failure> {
        if self.shared.is_calm() || !dice.chance(self.shared.plan.model.failure_percent) {
            return None;
        }
        let class = match dice.below(10) {
            0..=4 => FailureClass::Passing,
            5..=7 => FailureClass::Cut,
            8 => FailureClass::TooLong,
            _ if dice.chance(50) => FailureClass::Lasting,
            // As `panic!`, without the message on the terminal.
            _ => std::panic::resume_unwind(Box::new("the model broke".to_owned())),
        };
        let retry_after_ms = dice.pick(&[None, None, Some(0), Some(30), Some(u64::MAX)]);
        Some(Failure { class, message: "the provider is unwell".into(), retry_after_ms, raw: None })
    }
}

/// The lane a request is about: everything said in a world names its lane.
fn lane_of(request: &Request) -> Option<LaneId> {
    let segments = request.transcript.segments().iter();
    segments.flat_map(|segment| segment.blocks.iter()).find_map(|block| lane_in(block.raw().text()))
}

impl Model for HostileModel {
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        Box::pin(self.answer(request, stream))
    }
}
