//! Hook callbacks: hooks of the program, called over the channel.

use std::time::Duration;

use serde_json::{Value, json};
use windlass::ports::BoxFuture;
use windlass::tools::{HookCallbackError, HookCallbackRequest, HookCallbacks};

use super::host_requests::{HostRequestError, HostRequests};
use crate::setup;

/// Calls hooks of the program at the other end of the channel.
pub(super) struct HostHooks {
    host: HostRequests,
}

impl HostHooks {
    pub(super) fn new(host: HostRequests) -> Self {
        Self { host }
    }
}

impl HookCallbacks for HostHooks {
    fn call<'a>(
        &'a self,
        request: HookCallbackRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, HookCallbackError>> {
        Box::pin(async move {
            let timeout = Duration::from_millis(request.timeout_ms);
            // Events that are not about a call have an id too, which names nothing.
            let tool_use_id = request.tool_use_id.map_or_else(setup::new_id, str::to_owned);
            let call = json!({
                "subtype": "hook_callback",
                "callback_id": request.callback,
                "input": request.input,
                "tool_use_id": tool_use_id,
            });
            match self.host.send(call, timeout).await {
                Ok(answer) => Ok(answer),
                // The program said that it has no more to say.
                Err(HostRequestError::Closed) => Ok(Value::Null),
                Err(HostRequestError::TimedOut(_)) => {
                    Err(HookCallbackError::TimedOut { after_ms: request.timeout_ms })
                }
                Err(error) => Err(HookCallbackError::Failed(error.to_string())),
            }
        })
    }
}
