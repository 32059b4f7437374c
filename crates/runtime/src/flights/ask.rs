//! The model call: streams to readers, reports finished blocks early, and brings the reply with the
//! facts of its calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::block::{Block, ToolUse};
use windlass_core::conversation::Conversation;
use windlass_core::facts::{Facts, Repeat};
use windlass_core::ids::{AskId, LaneId};
use windlass_core::input::{Failure, FailureClass, Input};
use windlass_core::reply::Reply;
use windlass_core::settings::Settings;

use super::catch::caught;
use super::{FlightNo, Flights, Landed};
use crate::feed::LiveText;
use crate::ports::Stream;
use crate::toolbox::Toolbox;

impl Flights {
    pub(super) fn ask(&self, conversation: &Conversation) -> Option<AbortHandle> {
        let request = conversation.request()?;
        let ask = request.ask;
        let model = Arc::clone(&self.agent.ports.model);
        let stream = Arc::new(ReplyStream {
            lane: self.lane.clone(),
            ask,
            flight: self.flown,
            tools: self.agent.ports.tools.clone(),
            settings: Arc::clone(&request.settings),
            inbox: self.inbox.clone(),
            text: LiveText::new(ask, self.feed.clone(), self.owner.clone()),
            assessed: Mutex::default(),
        });
        let heard = Arc::clone(&stream);
        self.fly(async move {
            match caught(model.ask(request, stream)).await {
                Ok(Ok(reply)) => heard.replied(reply),
                Ok(Err(failure)) => Input::ModelFailed { ask, failure },
                Err(panic) => Input::ModelFailed { ask, failure: panicked(&panic) },
            }
        })
    }
}

fn panicked(panic: &str) -> Failure {
    let message = format!("the model adapter panicked: {panic}");
    Failure {
        class: FailureClass::Lasting,
        message: message.into(),
        retry_after_ms: None,
        raw: None,
    }
}

struct ReplyStream {
    lane: LaneId,
    ask: AskId,
    flight: FlightNo,
    tools: Toolbox,
    settings: Arc<Settings>,
    inbox: mpsc::Sender<Landed>,
    text: LiveText,
    /// The calls that came as blocks and may have begun, with their facts. What is to be done once
    /// is looked at again: much may have happened since.
    assessed: Mutex<Vec<(ToolUse, Facts)>>,
}

impl ReplyStream {
    fn replied(&self, reply: Reply) -> Input {
        let mut assessed = self.assessed();
        let facts = |(_, call): (_, &ToolUse)| match take(&mut assessed, call) {
            Some(facts) => facts,
            None => self.tools.assess_in_run(&self.lane, call, &self.settings),
        };
        let facts = reply.tool_uses().map(facts).collect();
        Input::Replied { ask: self.ask, reply: Arc::new(reply), facts }
    }

    fn assessed(&self) -> MutexGuard<'_, Vec<(ToolUse, Facts)>> {
        self.assessed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was found out about the very same call when it came as a block.
fn take(assessed: &mut Vec<(ToolUse, Facts)>, call: &ToolUse) -> Option<Facts> {
    let place = assessed.iter().position(|(known, _)| known == call)?;
    Some(assessed.swap_remove(place).1)
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
            let facts = self.tools.assess_in_run(&self.lane, call, &self.settings);
            let tool_use = call.clone();
            if facts.repeat == Repeat::Repeatable {
                self.assessed().push((tool_use.clone(), facts.clone()));
            }
            let input = Input::BlockReady { ask: self.ask, index, tool_use, facts };
            // An early start is a gift: without room in the inbox the call waits for its reply.
            let _ = self.inbox.try_send(Landed { flight: self.flight, input: Box::new(input) });
        }
    }
}
