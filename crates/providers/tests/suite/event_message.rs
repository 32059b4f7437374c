//! Folds the events of a reply into a message, as a client of the API does, and checks their order.

use serde_json::Value;

/// The message that events add up to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EventMessage {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) blocks: Vec<EventBlock>,
    pub(crate) stop_reason: String,
    pub(crate) stop_sequence: Option<String>,
    pub(crate) usage: Value,
    is_stopped: bool,
}

/// One block: how it started, and the pieces that followed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EventBlock {
    pub(crate) start: Value,
    pub(crate) pieces: Vec<String>,
    pub(crate) signature: String,
    is_stopped: bool,
}

impl EventBlock {
    pub(crate) fn kind(&self) -> &str {
        self.start["type"].as_str().unwrap()
    }
}

impl EventMessage {
    /// Folds the events of a complete reply.
    pub(crate) fn fold<S: AsRef<str>>(events: &[S]) -> Self {
        let mut message = Self::default();
        for (at, event) in events.iter().enumerate() {
            let event: Value = serde_json::from_str(event.as_ref()).unwrap();
            assert_eq!(event["type"] == "message_start", at == 0, "{event}");
            assert!(!message.is_stopped, "{event} after the end");
            message.add(&event);
        }
        assert!(message.is_stopped, "no message_stop");
        message
    }

    fn add(&mut self, event: &Value) {
        match event["type"].as_str().unwrap() {
            "message_start" => {
                let message = &event["message"];
                assert_eq!(
                    (&message["type"], &message["role"]),
                    (&"message".into(), &"assistant".into())
                );
                self.id = message["id"].as_str().unwrap().to_owned();
                self.model = message["model"].as_str().unwrap().to_owned();
            }
            "content_block_start" => {
                assert_eq!(event["index"], self.blocks.len(), "{event}");
                let start = event["content_block"].clone();
                self.blocks.push(EventBlock { start, ..EventBlock::default() });
            }
            "content_block_delta" => self.open_block(event).add_delta(&event["delta"]),
            "content_block_stop" => self.open_block(event).is_stopped = true,
            "message_delta" => {
                assert!(self.blocks.iter().all(|block| block.is_stopped), "a block is open");
                self.stop_reason = event["delta"]["stop_reason"].as_str().unwrap().to_owned();
                self.stop_sequence = event["delta"]["stop_sequence"].as_str().map(str::to_owned);
                self.usage = event["usage"].clone();
            }
            "message_stop" => self.is_stopped = true,
            _ => panic!("{event}"),
        }
    }

    fn open_block(&mut self, event: &Value) -> &mut EventBlock {
        let index = usize::try_from(event["index"].as_u64().unwrap()).unwrap();
        let block = self.blocks.get_mut(index).unwrap_or_else(|| panic!("not started: {event}"));
        assert!(!block.is_stopped, "{event} after its block ended");
        block
    }
}

impl EventBlock {
    fn add_delta(&mut self, delta: &Value) {
        let (kind, field) = match delta["type"].as_str().unwrap() {
            "text_delta" => ("text", "text"),
            "thinking_delta" => ("thinking", "thinking"),
            "input_json_delta" => ("tool_use", "partial_json"),
            "signature_delta" => {
                self.signature.push_str(delta["signature"].as_str().unwrap());
                return;
            }
            _ => panic!("{delta}"),
        };
        assert_eq!(self.kind(), kind, "{delta}");
        self.pieces.push(delta[field].as_str().unwrap().to_owned());
    }
}
