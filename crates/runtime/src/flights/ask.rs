//! The model call: streams to readers, reports finished blocks early, and brings the reply with the
//! facts of its calls.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::block::Block;
use windlass_core::conversation::Conversation;
use windlass_core::ids::{AskId, LaneId};
use windlass_core::input::{Failure, FailureClass, Input};
use windlass_core::reply::Reply;

use super::catch::caught;
use super::{FlightNo, Flights, Landed};
use crate::feed::LiveText;
use crate::ports::Stream;
use crate::toolbox::Toolbox;

impl Flights {
    pub(super) fn ask(&self, conversation: &Conversation) -> Option<AbortHandle> {
        let request = conversation.request()?;
        let ask = request.ask;
        let tools = self.agent.ports.tools.clone();
        let model = Arc::clone(&self.agent.ports.model);
        let stream = Arc::new(ReplyStream {
            lane: self.lane.clone(),
            ask,
            flight: self.flown,
            tools: tools.clone(),
            inbox: self.inbox.clone(),
            text: LiveText::new(ask, self.feed.clone(), self.owner.clone()),
        });
        let lane = self.lane.clone();
        self.fly(async move {
            match caught(model.ask(request, stream)).await {
                Ok(Ok(reply)) => replied(ask, reply, &tools, &lane),
                Ok(Err(failure)) => Input::ModelFailed { ask, failure },
                Err(panic) => Input::ModelFailed { ask, failure: panicked(&panic) },
            }
        })
    }
}

fn replied(ask: AskId, reply: Reply, tools: &Toolbox, lane: &LaneId) -> Input {
    let calls = reply.tool_uses();
    let facts = calls.map(|(_, call)| tools.assess(lane, &call.name, &call.input)).collect();
    Input::Replied { ask, reply: Arc::new(reply), facts }
}

fn panicked(panic: &str) -> Failure {
    let message = format!("the model adapter panicked: {panic}");
    Failure { class: FailureClass::Lasting, message: message.into(), retry_after_ms: None }
}

struct ReplyStream {
    lane: LaneId,
    ask: AskId,
    flight: FlightNo,
    tools: Toolbox,
    inbox: mpsc::Sender<Landed>,
    text: LiveText,
}

impl Stream for ReplyStream {
    fn text(&self, piece: &str) {
        self.text.text(piece);
    }

    fn thinking(&self, piece: &str) {
        self.text.thinking(piece);
    }

    fn block(&self, index: u16, block: &Block) {
        if let Some(call) = block.as_tool_use() {
            let facts = self.tools.assess(&self.lane, &call.name, &call.input);
            let tool_use = call.clone();
            let input = Input::BlockReady { ask: self.ask, index, tool_use, facts };
            // An early start is a gift: without room in the inbox the call waits for its reply.
            let _ = self.inbox.try_send(Landed { flight: self.flight, input: Box::new(input) });
        }
    }
}
