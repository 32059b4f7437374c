//! A hostile model: it fails in every class, stops for every reason, announces calls that never
//! come, repeats ids, invents tools and counts its tokens wrongly.

mod blocks;
mod reply;

use std::sync::Arc;

use windlass_core::log::ids::{LaneId, ModelCallId};
use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_runtime::ports::{BoxFuture, Model, ReplyObserver};

use super::clock::sleep_virtual;
use super::process_gate::{ProcessGate, ProcessLife, WorldAccess};
use super::seeded_rng::SeededRng;
use super::shared::{SharedWorld, lane_in};

/// The id of a side request.
const BESIDE: ModelCallId = 0;

pub(crate) struct HostileModel {
    pub(crate) shared: Arc<SharedWorld>,
    pub(crate) gate: Arc<ProcessGate>,
}

impl HostileModel {
    async fn answer(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> Result<ModelReply, ModelFailure> {
        if self.gate.life() == ProcessLife::Dead {
            std::future::pending::<()>().await;
        }
        if request.model_call == BESIDE {
            return self.side_request(request).await;
        }
        let lane = lane_of(&request);
        let subject = format!("{lane:?} {} {}", request.model_call, self.shared.wall.elapsed_ms());
        let mut rng = SeededRng::about(self.shared.plan.seed, &subject);
        self.shared.observations.request(lane.clone(), request.clone());
        let name =
            lane.map_or_else(|| "L?".to_owned(), |lane| lane.as_str().replace("conversation:", ""));
        let mood = self.shared.plan.model;
        self.think(rng.below(120)).await;
        if let Some(failure) = self.failure(&mut rng) {
            self.announce(&stream, &reply::draw(&mut rng, mood, &name, &request), &mut rng).await;
            return Err(failure);
        }
        let reply = reply::draw(&mut rng, mood, &name, &request);
        self.speak(&stream, &reply, mood.pieces).await;
        if rng.chance(mood.early_percent) {
            self.announce(&stream, &reply, &mut rng).await;
        }
        Ok(reply)
    }

    /// Answers a side request: short, long, junk, or nothing.
    async fn side_request(&self, request: ModelRequest) -> Result<ModelReply, ModelFailure> {
        let at_ms = self.shared.wall.elapsed_ms();
        let subject = format!("aside {at_ms} {}", request.transcript.byte_count());
        let mut rng = SeededRng::about(self.shared.plan.seed, &subject);
        self.shared.observations.request(None, request.clone());
        self.think(rng.below(120)).await;
        match self.failure(&mut rng) {
            Some(failure) => Err(failure),
            None => Ok(reply::side_reply(&mut rng, self.shared.plan.model, &request)),
        }
    }

    async fn think(&self, ms: u64) {
        sleep_virtual(ms).await;
        self.gate.pass(WorldAccess::Work).await;
    }

    async fn speak(&self, stream: &Arc<dyn ReplyObserver>, reply: &ModelReply, pieces: u64) {
        for _ in 0..pieces {
            stream.on_text("piece ");
            stream.on_thinking("hm ");
        }
        if reply.blocks.len() > 1 {
            self.think(5).await;
        }
    }

    /// Reports blocks while it continues streaming; at times others than it will send.
    async fn announce(
        &self,
        stream: &Arc<dyn ReplyObserver>,
        reply: &ModelReply,
        rng: &mut SeededRng,
    ) {
        for (index, block) in (0u16..).zip(&reply.blocks) {
            if rng.chance(5) {
                stream.on_block(index, &ContentBlock::new(blocks::other_call()));
            } else {
                stream.on_block(index, block);
            }
            self.think(rng.below(60)).await;
        }
    }

    fn failure(&self, rng: &mut SeededRng) -> Option<ModelFailure> {
        if self.shared.is_calm() || !rng.chance(self.shared.plan.model.failure_percent) {
            return None;
        }
        let class = match rng.below(10) {
            0..=4 => FailureClass::Transient,
            5..=7 => FailureClass::StreamCut,
            8 => FailureClass::ContextTooLong,
            _ if rng.chance(50) => FailureClass::Permanent,
            // As `panic!`, without the message on the terminal.
            _ => std::panic::resume_unwind(Box::new("the model broke".to_owned())),
        };
        let retry_after_ms = rng.pick(&[None, None, Some(0), Some(30), Some(u64::MAX)]);
        Some(ModelFailure {
            class,
            message: "the provider is unwell".into(),
            retry_after_ms,
            raw: None,
        })
    }
}

/// Returns the lane that a request is about: every text in a world names its lane.
fn lane_of(request: &ModelRequest) -> Option<LaneId> {
    let segments = request.transcript.segments().iter();
    segments.flat_map(|segment| segment.blocks.iter()).find_map(|block| lane_in(block.raw().text()))
}

impl Model for HostileModel {
    fn call(
        &self,
        request: ModelRequest,
        stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        Box::pin(self.answer(request, stream))
    }
}
