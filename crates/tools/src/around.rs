//! Tools made of tools: something is done around the run, and all else is the tool's own.

use std::sync::Arc;

use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::input::Finding;
use windlass_core::outcome::Outcome;
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::Toolbox;
use windlass_runtime::ports::{CallContext, Task, Tool};

/// What is done around the run of a tool.
pub(crate) trait Around: Send + Sync + 'static {
    /// Runs the tool.
    fn run<'a>(&'a self, tool: &'a dyn Tool, context: CallContext, input: Raw)
    -> Task<'a, Outcome>;
}

/// The same tools, each with something around it.
pub(crate) fn each<A: Around + Clone>(tools: &Toolbox, around: &A) -> Toolbox {
    let names = tools.specs().into_iter().map(|spec| spec.name);
    let wrapped = |tool| Wrapped { tool, around: around.clone() };
    names.filter_map(|name| tools.get(&name)).map(wrapped).fold(Toolbox::default(), Toolbox::with)
}

/// A tool with something around it.
struct Wrapped<A> {
    tool: Arc<dyn Tool>,
    around: A,
}

impl<A: Around> Tool for Wrapped<A> {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn assess(&self, input: &Raw) -> Facts {
        self.tool.assess(input)
    }

    fn assess_on(&self, lane: &LaneId, input: &Raw) -> Facts {
        self.tool.assess_on(lane, input)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        self.around.run(self.tool.as_ref(), context, input)
    }

    fn verify(&self, context: CallContext, input: Raw) -> Task<'_, Finding> {
        self.tool.verify(context, input)
    }

    fn needs_workspace(&self) -> bool {
        self.tool.needs_workspace()
    }

    fn leave(&self, lane: &LaneId) {
        self.tool.leave(lane);
    }
}
