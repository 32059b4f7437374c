//! Wraps tools: code around `run` and `context_after`; everything else is forwarded to the tool.

use std::sync::Arc;

use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::LaneId;
use windlass_core::log::input::{ContextNote, ProbeResult};
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_runtime::ToolRegistry;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

/// Code around the calls of a tool.
pub(crate) trait ToolWrapper: Send + Sync + 'static {
    /// Runs the tool.
    fn run_wrapped<'a>(
        &'a self,
        tool: &'a dyn Tool,
        context: CallContext,
        input: RawJson,
    ) -> BoxFuture<'a, ToolOutcome> {
        tool.run(context, input)
    }

    /// Returns the context that belongs to what a call touched.
    fn context_wrapped(
        &self,
        tool: &dyn Tool,
        context: &CallContext,
        input: &RawJson,
    ) -> Vec<ContextNote> {
        tool.context_after(context, input)
    }
}

/// Wraps each of the tools.
pub(crate) fn wrap_all<A: ToolWrapper + Clone>(tools: &ToolRegistry, around: &A) -> ToolRegistry {
    let (tools, source) = tools.clone().split_source();
    let names = tools.specs().into_iter().map(|spec| spec.name);
    let wrapped = |tool| WrappedTool { tool, wrapper: around.clone() };
    let wrapped = names
        .filter_map(|name| tools.get(&name))
        .map(wrapped)
        .fold(ToolRegistry::default(), ToolRegistry::with);
    match source {
        Some(source) => wrapped.with_source(source),
        None => wrapped,
    }
}

/// A wrapped tool.
struct WrappedTool<A> {
    tool: Arc<dyn Tool>,
    wrapper: A,
}

impl<A: ToolWrapper> Tool for WrappedTool<A> {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        self.tool.assess(input)
    }

    fn assess_in_lane(&self, lane: &LaneId, input: &RawJson) -> CallFacts {
        self.tool.assess_in_lane(lane, input)
    }

    fn assess_in_run(&self, lane: &LaneId, run: &Settings, input: &RawJson) -> CallFacts {
        self.tool.assess_in_run(lane, run, input)
    }

    fn run(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        self.wrapper.run_wrapped(self.tool.as_ref(), context, input)
    }

    fn context_after(&self, context: &CallContext, input: &RawJson) -> Vec<ContextNote> {
        self.wrapper.context_wrapped(self.tool.as_ref(), context, input)
    }

    fn probe(&self, context: CallContext, input: RawJson) -> BoxFuture<'_, ProbeResult> {
        self.tool.probe(context, input)
    }

    fn needs_workspace(&self) -> bool {
        self.tool.needs_workspace()
    }

    fn on_lane_released(&self, lane: &LaneId) {
        self.tool.on_lane_released(lane);
    }
}
