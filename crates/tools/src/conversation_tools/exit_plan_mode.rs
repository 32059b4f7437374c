//! `ExitPlanMode`: presents a plan for approval. The core turns the call into a question to a
//! human, whose approval ends plan mode.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::call::call_facts::{AnsweredBy, CallFacts};
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::prompt_texts;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::ToolSpec;
use windlass_runtime::ports::{BoxFuture, CallContext, Tool};

use crate::tool_definition::tool_input::{self, ToolInput, problem_facts};
use crate::tool_definition::tool_spec::tool_spec;

/// `ExitPlanModeTool`: presents the plan for a human to approve.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExitPlanModeTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExitPlanModeInput {
    /// The plan, in Markdown
    #[schemars(length(min = 1))]
    plan: String,
}

impl ToolInput for ExitPlanModeInput {
    fn validation_error(&self) -> Option<String> {
        self.plan
            .trim()
            .is_empty()
            .then(|| "the plan is empty; describe what you would do".to_owned())
    }
}

impl Tool for ExitPlanModeTool {
    fn spec(&self) -> ToolSpec {
        tool_spec::<ExitPlanModeInput>(
            prompt_texts::EXIT_PLAN_MODE,
            "Presents your plan to the user, who approves it or says what to change. Use it in plan mode, once the plan \
             is complete; approval ends plan mode.",
        )
    }

    fn assess(&self, input: &RawJson) -> CallFacts {
        let facts = |_: ExitPlanModeInput| CallFacts {
            answered_by: AnsweredBy::PlanApproval,
            ..tool_input::read_only_facts(Vec::new(), "the plan")
        };
        tool_input::read_input(input).map_or_else(problem_facts, facts)
    }

    /// Not called in practice: the core answers this call with the human's answer.
    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let error = ToolError::new(
            "no_human_available",
            "no human was asked to approve the plan",
            "give the plan as your answer",
        );
        Box::pin(std::future::ready(ToolOutcome::Failed(error)))
    }
}
