//! Common implementation of the tools that delegate tasks to sub-agents.

use std::marker::PhantomData;

use schemars::JsonSchema;
use windlass_core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::child_runs;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use super::agent_catalog::AgentCatalog;
use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// The input of a delegation tool, and the tool's name and description.
pub(super) trait DelegationInput: ToolInput + JsonSchema {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;

    /// Returns the tasks of the child runs.
    fn child_tasks(&self, known: &AgentCatalog) -> Result<Vec<child_runs::ChildTask>, ToolError>;

    /// Returns whether the child runs work in the background.
    fn is_in_background(&self, _known: &AgentCatalog) -> Result<bool, ToolError> {
        Ok(false)
    }

    /// Returns a short summary of the tasks.
    fn task_summary(&self) -> String;
}

/// A tool that delegates tasks to sub-agents.
#[derive(Debug, Clone, Default)]
pub struct DelegationTool<I> {
    agents: AgentCatalog,
    input: PhantomData<fn() -> I>,
}

impl<I> DelegationTool<I> {
    /// Adds an agent that tasks may name.
    #[must_use]
    pub fn with(mut self, name: &str, about: &str) -> Self {
        self.agents.add(name, about);
        self
    }

    /// Lets sub-agents work in the background. Their results start runs of their own: use it only
    /// where someone follows the conversation.
    #[must_use]
    pub fn with_background(mut self) -> Self {
        self.agents.allow_background();
        self
    }

    /// Makes an agent work in the background unless the call says otherwise, where that is possible.
    #[must_use]
    pub fn in_background(mut self, name: &str) -> Self {
        self.agents.set_background(name);
        self
    }
}

#[expect(private_bounds, reason = "the inputs are types of the tools in this folder")]
impl<I: DelegationInput> DelegationTool<I> {
    fn assess_input(&self, input: &RawJson) -> Result<CallFacts, ToolError> {
        let input: I = tool_input::read_input(input)?;
        let facts = delegation_facts(input.child_tasks(&self.agents)?, &input.task_summary());
        let children_in_background = input.is_in_background(&self.agents)?;
        Ok(CallFacts { children_in_background, ..facts })
    }
}

impl<I: DelegationInput + 'static> Tool for DelegationTool<I> {
    fn needs_workspace(&self) -> bool {
        false
    }

    fn spec(&self) -> ToolSpec {
        let description = self.agents.description(I::DESCRIPTION);
        ToolSpec { description, ..tool_spec::<I>(I::NAME, "") }
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        self.assess_input(input).unwrap_or_else(problem_facts)
    }

    /// Not called in practice: the core answers this call with the sub-agent results.
    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let nobody_began = ToolError::new(
            "no_child",
            "no sub-agent was started for this call",
            "do the work yourself",
        );
        Box::pin(std::future::ready(ToolOutcome::Failed(nobody_began)))
    }
}

/// Returns the facts of a call that waits for sub-agents: it changes nothing by itself and
/// conflicts with no other call.
pub(crate) fn delegation_facts(children: Vec<child_runs::ChildTask>, summary: &str) -> CallFacts {
    CallFacts {
        touches: TouchedResources::Reads(Vec::new()),
        repeat: Repeatability::OnceOnly,
        interrupt: Interruptibility::Interruptible,
        probe: ProbeSupport::Unsupported,
        answered_by: AnsweredBy::Children,
        summary: Some(tool_input::one_line_summary(summary)),
        children,
        ..CallFacts::default()
    }
}
