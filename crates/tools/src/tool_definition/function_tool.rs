//! Tools made from a function.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use windlass_core::call::call_facts::{CallFacts, Interruptibility, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::limits::DEFAULT_TIMEOUT_MS;
use crate::tool_definition::tool_input::{self, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// A tool made from a function that takes `I`. Its schema is that of `I`; derive `Deserialize` with
/// `deny_unknown_fields` so that input that does not match is rejected.
///
/// Unless declared read-only it runs exclusively. It is never repeated, neither after a transient
/// failure nor after a crash, unless [`FunctionTool::repeatability`] or [`FunctionTool::read_only`]
/// declares that a repeat does no harm; its name has no influence. After a crash in the middle of a
/// call that may not be repeated, a human is asked.
///
/// A repeatable tool is retried when its call times out or fails with a transient error:
/// [`ToolError::from_io`] and [`ToolError::from_http_status`] tell which errors are transient.
pub struct FunctionTool<I, F> {
    name: String,
    description: String,
    run: F,
    is_read_only: bool,
    repeat: Repeatability,
    timeout_ms: u64,
    input: PhantomData<fn(I)>,
}

impl<I, F, R> FunctionTool<I, F>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(CallContext, I) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    /// Returns a tool of this name that calls `run`.
    pub fn new(name: &str, description: &str, run: F) -> Self {
        let repeat = Repeatability::OnceOnly;
        let (name, description) = (name.to_owned(), description.to_owned());
        let (is_read_only, timeout_ms, input) = (false, DEFAULT_TIMEOUT_MS, PhantomData);
        Self { name, description, run, is_read_only, repeat, timeout_ms, input }
    }

    /// Declares whether repeating a call does harm.
    #[must_use]
    pub fn repeatability(mut self, repeat: Repeatability) -> Self {
        self.repeat = repeat;
        self
    }

    /// Sets the time that a call may take; the default is 120 s. A call that takes longer and is
    /// still working says so with `call_context.heartbeat`.
    #[must_use]
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.timeout_ms = timeout_ms;
        self
    }

    /// Declares that the tool changes nothing: it runs concurrently with others and may be
    /// repeated.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        (self.is_read_only, self.repeat) = (true, Repeatability::Repeatable);
        self
    }

    fn call_facts(&self, input: &RawJson) -> CallFacts {
        let (repeat, timeout_ms) = (self.repeat, self.timeout_ms);
        let reads = CallFacts {
            repeat,
            timeout_ms,
            ..tool_input::read_only_facts(Vec::new(), input.text())
        };
        if self.is_read_only {
            return reads;
        }
        CallFacts {
            touches: TouchedResources::Exclusive,
            interrupt: Interruptibility::RunsToEnd,
            ..reads
        }
    }
}

impl<I, F, R> Tool for FunctionTool<I, F>
where
    I: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(CallContext, I) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    fn spec(&self) -> ToolSpec {
        tool_spec::<I>(&self.name, &self.description)
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        tool_input::parse_object::<I>(input).map_or_else(problem_facts, |_| self.call_facts(input))
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async move {
            let result = match tool_input::parse_object(&input) {
                Ok(read) => (self.run)(context, read).await,
                Err(problem) => Err(problem),
            };
            result
                .map_or_else(ToolOutcome::Failed, |text| ToolOutcome::Done(RawJson::string(&text)))
        })
    }
}
