//! Hooks that are functions of the program, by the name of their event.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::BoxFuture;
use windlass_tools::hooks::HookConfig;
use windlass_tools::{
    CommandHooks, HookCallbackError, HookCallbackRequest, HookCallbacks, IgnoredHook,
};

use super::QueryError;

/// What a hook is told.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// The name of the event, such as `PreToolUse`.
    pub name: String,
    /// Everything about it, with the field names of `docs/hooks.md`.
    pub input: Value,
}

impl HookEvent {
    /// Returns the name of the tool, or an empty text if the event is not about a call.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        self.input.get("tool_name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the input of the call, or `null` if the event is not about one.
    #[must_use]
    pub fn tool_input(&self) -> &Value {
        self.input.get("tool_input").unwrap_or(&Value::Null)
    }

    /// Returns the prompt of `UserPromptSubmit`, or an empty text.
    #[must_use]
    pub fn prompt(&self) -> &str {
        self.input.get("prompt").and_then(Value::as_str).unwrap_or_default()
    }
}

/// What a hook decides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookReply {
    /// Nothing: rules and other hooks decide.
    Pass,
    /// Allows the call (`PreToolUse`).
    Allow,
    /// Asks the approval callback about the call (`PreToolUse`).
    Ask {
        /// Why, for whoever is asked.
        reason: String,
    },
    /// Blocks what the event is about: the call, the prompt, or the end of the run (`Stop`).
    Deny {
        /// Why, for the model.
        reason: String,
    },
    /// Replaces the input of the call (`PreToolUse`); rules decide about the new one.
    ChangeInput(Value),
    /// Adds text to what the model reads next.
    AddContext(String),
    /// Ends the run.
    Stop {
        /// Why, for the result.
        reason: String,
    },
    /// An answer in the JSON form of command hooks, for what is not in this list.
    Raw(Value),
}

impl HookReply {
    /// Returns a reply that blocks, with the reason for the model.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }

    /// Returns a reply that asks, with the reason for whoever is asked.
    #[must_use]
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::Ask { reason: reason.into() }
    }

    /// Returns a reply that ends the run, with the reason for its result.
    #[must_use]
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::Stop { reason: reason.into() }
    }

    /// Returns the JSON form, which depends on the event.
    fn into_json(self, event: &str) -> Value {
        let decide = |decision: &str, reason: &str| {
            specific(
                event,
                json!({"permissionDecision": decision, "permissionDecisionReason": reason}),
            )
        };
        match self {
            Self::Pass => json!({}),
            Self::Allow => decide("allow", ""),
            Self::Ask { reason } => decide("ask", &reason),
            Self::Deny { reason } if event == "PreToolUse" => decide("deny", &reason),
            Self::Deny { reason } => json!({"decision": "block", "reason": reason}),
            Self::ChangeInput(input) => specific(event, json!({"updatedInput": input})),
            Self::AddContext(text) => specific(event, json!({"additionalContext": text})),
            Self::Stop { reason } => json!({"continue": false, "stopReason": reason}),
            Self::Raw(value) => value,
        }
    }
}

/// Returns an answer with fields of this event.
fn specific(event: &str, fields: Value) -> Value {
    let mut own = Map::from_iter([("hookEventName".to_owned(), json!(event))]);
    own.extend(
        fields.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())),
    );
    json!({"hookSpecificOutput": own})
}

type HookFunction = Arc<dyn Fn(HookEvent) -> BoxFuture<'static, HookReply> + Send + Sync>;

/// A function, and when it is called.
struct HookClosure {
    event: String,
    tools: String,
    function: HookFunction,
}

/// The functions of one agent.
#[derive(Default)]
pub(super) struct HookClosures(Vec<HookClosure>);

impl HookClosures {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add<F, R>(&mut self, event: String, tools: String, callback: F)
    where
        F: Fn(HookEvent) -> R + Send + Sync + 'static,
        R: Future<Output = HookReply> + Send + 'static,
    {
        let function: HookFunction = Arc::new(move |event| Box::pin(callback(event)));
        self.0.push(HookClosure { event, tools, function });
    }

    /// Returns hooks that call the functions. An unknown event is an error: a hook that is never
    /// called is worse than a program that does not start.
    pub(super) fn into_hooks(self, folder: &Path) -> Result<CommandHooks, QueryError> {
        let mut events: Map<String, Value> = Map::new();
        for (id, closure) in self.0.iter().enumerate() {
            let matcher = Some(&closure.tools).filter(|tools| !tools.is_empty());
            let group = json!({"matcher": matcher, "hookCallbackIds": [id.to_string()]});
            let groups = events.entry(closure.event.clone()).or_insert_with(|| json!([]));
            groups.as_array_mut().into_iter().for_each(|groups| groups.push(group.clone()));
        }
        let config = HookConfig::parse_callbacks(&Value::Object(events));
        let config = config.map_err(|error| QueryError::Hook(error.to_string()))?;
        if let Some(IgnoredHook::Unknown(name) | IgnoredHook::Unsupported(name)) =
            config.ignored_entries().first()
        {
            return Err(QueryError::Hook(format!("{name} does not exist; see docs/hooks.md")));
        }
        let clock = Arc::new(SystemClock::start());
        Ok(CommandHooks::new(config, folder, clock).with_callbacks(Arc::new(self)))
    }
}

impl HookCallbacks for HookClosures {
    fn call<'a>(
        &'a self,
        request: HookCallbackRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, HookCallbackError>> {
        Box::pin(async move {
            let known = request.callback.parse().ok().and_then(|id: usize| self.0.get(id));
            let Some(HookClosure { event, function, .. }) = known else {
                return Err(HookCallbackError::Failed("it does not exist".to_owned()));
            };
            let told = HookEvent { name: event.clone(), input: request.input.clone() };
            let limit = Duration::from_millis(request.timeout_ms);
            match tokio::time::timeout(limit, function(told)).await {
                Ok(reply) => Ok(reply.into_json(event)),
                Err(_) => Err(HookCallbackError::TimedOut { after_ms: request.timeout_ms }),
            }
        })
    }
}
