//! Presenting a plan. The core turns the call into a question to a person; their approval ends plan
//! mode.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::{AnsweredBy, Facts};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_core::words;
use windlass_runtime::ports::{CallContext, Task, Tool};

use crate::input::{self, Input, unfit};
use crate::offer::offer;

/// `ExitPlanMode`: the plan, for a person to approve.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExitPlanMode;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanInput {
    /// The plan, in Markdown
    #[schemars(length(min = 1))]
    plan: String,
}

impl Input for PlanInput {
    fn problem(&self) -> Option<String> {
        self.plan.trim().is_empty().then(|| "the plan is empty; say what you would do".to_owned())
    }
}

impl Tool for ExitPlanMode {
    fn spec(&self) -> ToolSpec {
        offer::<PlanInput>(
            words::EXIT_PLAN_MODE,
            "Presents your plan to the user, who approves it or says what to change. Use it in plan mode, once the plan \
             is complete; approval ends plan mode.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        let facts = |_: PlanInput| Facts {
            answered_by: AnsweredBy::PlanApproval,
            ..input::looks(Vec::new(), "the plan")
        };
        input::read(input).map_or_else(unfit, facts)
    }

    /// Never called where the facts are honoured: the answer is a person's.
    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let error = ToolError::new(
            "nobody_to_ask",
            "this plan was not put before a person",
            "give the plan as your answer",
        );
        Box::pin(std::future::ready(Outcome::Failed(error)))
    }
}
