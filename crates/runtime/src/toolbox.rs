//! The tools of an agent, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::block::ToolUse;
use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::raw::Raw;
use windlass_core::settings::{Settings, ToolSpec};

use crate::ports::Tool;
use crate::schema::InputSchema;

/// Tools by name.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: BTreeMap<Arc<str>, Registered>,
}

/// A tool, and its schema once it was called.
#[derive(Clone)]
struct Registered {
    tool: Arc<dyn Tool>,
    schema: Arc<InputSchema>,
    offer: OfferedTo,
}

/// Which runs a tool is offered to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfferedTo {
    /// Every run.
    EveryRun,
    /// Runs whose own settings bring its specification.
    RunsThatBringIt,
}

impl Toolbox {
    /// The same tools and one more; a tool of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.insert(tool, OfferedTo::EveryRun);
        self
    }

    /// The same tools and one more, which only runs are offered whose own settings bring its
    /// specification. A tool of the same name that every run is offered stays.
    #[must_use]
    pub fn with_reserve(mut self, tool: impl Tool) -> Self {
        if self.get(&tool.spec().name).is_none() {
            self.insert(tool, OfferedTo::RunsThatBringIt);
        }
        self
    }

    fn insert(&mut self, tool: impl Tool, offer: OfferedTo) {
        let (name, tool) = (tool.spec().name, Arc::new(tool) as Arc<dyn Tool>);
        self.tools.insert(name, Registered { tool, schema: Arc::default(), offer });
    }

    /// The same tools and those of `others`; a tool of the same name is replaced.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.tools.extend(others.tools);
        self
    }

    /// Those of the tools whose name is wanted.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let tools = self.tools.iter().filter(|(name, _)| wanted(name));
        Self { tools: tools.map(|(name, tool)| (name.clone(), tool.clone())).collect() }
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).map(|registered| Arc::clone(&registered.tool))
    }

    /// How the tools are offered that every run is offered, in a stable order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let offered = self.tools.values().filter(|tool| tool.offer == OfferedTo::EveryRun);
        offered.map(|registered| registered.tool.spec()).collect()
    }

    /// How the tools are offered to a run with these settings, of those that are wanted.
    pub(crate) fn specs_of_run(
        &self,
        settings: &Settings,
        wanted: impl Fn(&str) -> bool,
    ) -> Vec<ToolSpec> {
        let own = settings.tools.iter().filter(|tool| wanted(&tool.name));
        let offered = |tool: &ToolSpec| {
            let registered = self.tools.get(&tool.name)?;
            Some(match registered.offer {
                OfferedTo::EveryRun => registered.tool.spec(),
                OfferedTo::RunsThatBringIt => tool.clone(),
            })
        };
        own.filter_map(offered).collect()
    }

    /// The same as `assess` for a run with these settings: a tool that the run is not offered does not
    /// exist for it, and an answer must fit the schema that the run brought.
    pub(crate) fn assess_in_run(&self, lane: &LaneId, call: &ToolUse, run: &Settings) -> Facts {
        let Some(offered) = run.tools.iter().find(|tool| tool.name == call.name) else {
            return Facts::unknown(&call.name);
        };
        let is_answer = run.output.as_ref().is_some_and(|output| output.tool == call.name);
        let facts = self.assess(lane, &call.name, &call.input);
        if is_answer && facts.problem.is_none() {
            let own = || offered.input_schema.clone();
            let problem = InputSchema::default().problem(own, &call.input);
            return Facts { problem, ..facts };
        }
        facts
    }

    /// What is known of a call of the conversation on `lane` before it runs. An input that does not fit
    /// the tool's schema is a problem, and the tool is not even asked.
    #[must_use]
    pub fn assess(&self, lane: &LaneId, name: &str, input: &Raw) -> Facts {
        let Some(Registered { tool, schema, .. }) = self.tools.get(name) else {
            return Facts::unknown(name);
        };
        match schema.problem(|| tool.spec().input_schema, input) {
            Some(problem) => Facts { problem: Some(problem), ..Facts::default() },
            None => tool.assess_on(lane, input),
        }
    }

    /// Whether any of the tools works in the folder of the process.
    #[must_use]
    pub fn needs_workspace(&self) -> bool {
        self.tools.values().any(|registered| registered.tool.needs_workspace())
    }

    /// Those of the tools that work anywhere.
    #[must_use]
    pub fn without_workspace(&self) -> Self {
        self.only(|name| self.tools.get(name).is_some_and(|own| !own.tool.needs_workspace()))
    }

    /// Tells every tool that the conversation on `lane` is driven here no longer.
    pub fn leave(&self, lane: &LaneId) {
        self.tools.values().for_each(|registered| registered.tool.leave(lane));
    }
}
