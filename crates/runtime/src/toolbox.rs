//! The tools of an agent, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;

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
}

impl Toolbox {
    /// The same tools and one more; a tool of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        let (name, tool) = (tool.spec().name, Arc::new(tool) as Arc<dyn Tool>);
        self.tools.insert(name, Registered { tool, schema: Arc::default() });
        self
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

    /// How the tools are offered, in a stable order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|registered| registered.tool.spec()).collect()
    }

    /// What is known of a call of the conversation on `lane` before it runs. An input that does not fit
    /// the tool's schema is a problem, and the tool is not even asked.
    #[must_use]
    pub fn assess(&self, lane: &LaneId, name: &str, input: &Raw) -> Facts {
        let Some(Registered { tool, schema }) = self.tools.get(name) else {
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
