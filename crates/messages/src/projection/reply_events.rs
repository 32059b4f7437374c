//! The provider's events of the reply in flight.
//!
//! A complete block is written before the event that ends it. It is complete only when the reply is
//! committed, so the end of the last block and of the message are held back until then.

use serde_json::Value;
use windlass_core::log::ids::ModelCallId;

/// The events of the reply in flight, as far as they are passed on.
#[derive(Debug, Default)]
pub(super) struct ReplyEvents {
    model_call: Option<ModelCallId>,
    message_id: Option<String>,
    model: Option<String>,
    /// Events that wait for the complete blocks.
    held: Vec<Value>,
}

impl ReplyEvents {
    /// Takes an event and returns those that can be passed on now.
    pub(super) fn push(&mut self, model_call: ModelCallId, event: &str) -> Vec<Value> {
        let Ok(event) = serde_json::from_str::<Value>(event) else { return Vec::new() };
        if self.model_call != Some(model_call) {
            self.reset();
            self.model_call = Some(model_call);
        }
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                let field = |name: &str| {
                    let value = event.get("message").and_then(|message| message.get(name));
                    value.and_then(Value::as_str).map(str::to_owned)
                };
                (self.message_id, self.model) = (field("id"), field("model"));
                vec![event]
            }
            Some("content_block_stop" | "message_delta" | "message_stop") => {
                self.held.push(event);
                Vec::new()
            }
            Some("ping") | None => Vec::new(),
            Some(_) => {
                let mut events = std::mem::take(&mut self.held);
                events.push(event);
                events
            }
        }
    }

    /// The reply is complete: returns what was held back.
    pub(super) fn finish(&mut self) -> Vec<Value> {
        std::mem::take(self).held
    }

    /// Forgets the reply.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The provider's id of the reply, if its beginning was passed on.
    pub(super) fn message_id(&self) -> Option<&str> {
        self.message_id.as_deref()
    }

    /// The model that answers, as the provider names it.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}
