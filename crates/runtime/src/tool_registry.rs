//! The tool registry: the tools of an agent, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::call::call_facts::CallFacts;
use windlass_core::log::ids::LaneId;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_core::settings::server_tools::is_server_tool;

use crate::input_schema::InputSchema;
use crate::ports::Tool;

/// The tools of an agent, by name.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    /// Shared, because every driver and every effect has a registry.
    tools: Arc<BTreeMap<Arc<str>, RegisteredTool>>,
    /// Where further tools come from.
    source: Option<Arc<dyn ToolSource>>,
}

/// Tools that come and go while the process runs, such as those of MCP servers.
pub trait ToolSource: Send + Sync + 'static {
    /// Returns the tools that are offered now, in a registry without a source. Called often.
    fn tools(&self) -> ToolRegistry;
}

/// A tool, and its input schema once it was called.
#[derive(Clone)]
struct RegisteredTool {
    tool: Arc<dyn Tool>,
    schema: Arc<InputSchema>,
    /// Whether it is offered only to runs whose own settings contain its specification.
    is_reserve: bool,
}

impl ToolRegistry {
    /// Adds a tool; replaces a tool of the same name.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.insert(tool, false);
        self
    }

    /// Adds a tool that is only offered to runs whose own settings contain its specification. A
    /// tool of the same name that is offered to every run is kept.
    #[must_use]
    pub fn with_reserve(mut self, tool: impl Tool) -> Self {
        if self.get(&tool.spec().name).is_none() {
            self.insert(tool, true);
        }
        self
    }

    /// Sets where further tools come from. A tool of the registry itself comes before one of the same
    /// name from there.
    #[must_use]
    pub fn with_source(mut self, source: Arc<dyn ToolSource>) -> Self {
        self.source = Some(source);
        self
    }

    /// Returns the tools without those that come from elsewhere, and where those come from.
    #[must_use]
    pub fn split_source(mut self) -> (Self, Option<Arc<dyn ToolSource>>) {
        let source = self.source.take();
        (self, source)
    }

    /// Returns whether tools come and go.
    pub(crate) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// Returns the tools as they are now, without a source.
    fn current(&self) -> Self {
        match &self.source {
            Some(source) => {
                source.tools().merge(Self { tools: Arc::clone(&self.tools), source: None })
            }
            None => self.clone(),
        }
    }

    fn find(&self, name: &str) -> Option<RegisteredTool> {
        let own = self.tools.get(name).cloned();
        own.or_else(|| self.source.as_ref()?.tools().tools.get(name).cloned())
    }

    fn insert(&mut self, tool: impl Tool, is_reserve: bool) {
        let (name, tool) = (tool.spec().name, Arc::new(tool) as Arc<dyn Tool>);
        let registered = RegisteredTool { tool, schema: Arc::default(), is_reserve };
        Arc::make_mut(&mut self.tools).insert(name, registered);
    }

    /// Adds the tools of `others`; replaces tools of the same name.
    #[must_use]
    pub fn merge(mut self, others: Self) -> Self {
        Arc::make_mut(&mut self.tools).extend(Arc::unwrap_or_clone(others.tools));
        self.source = others.source.or(self.source);
        self
    }

    /// Returns the tools whose name is `wanted`, out of those that there are now.
    #[must_use]
    pub fn filter(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let all = self.current().tools;
        let tools = all.iter().filter(|(name, _)| wanted(name));
        let tools: BTreeMap<_, _> =
            tools.map(|(name, tool)| (name.clone(), tool.clone())).collect();
        Self { tools: Arc::new(tools), source: None }
    }

    /// Returns whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.current().tools.is_empty()
    }

    /// Returns the tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.find(name).map(|registered| registered.tool)
    }

    /// Returns the specifications of the tools that are offered to every run, in a stable order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let all = self.current().tools;
        let offered = all.values().filter(|tool| !tool.is_reserve);
        offered.map(|registered| registered.tool.spec()).collect()
    }

    /// Returns the specifications of the tools of MCP servers, by name.
    pub(crate) fn server_tools(&self) -> Vec<ToolSpec> {
        let is_offered =
            |(name, tool): &(&Arc<str>, &RegisteredTool)| is_server_tool(name) && !tool.is_reserve;
        let own = self.tools.iter().filter(is_offered);
        let mut specs: Vec<ToolSpec> = own.map(|(_, registered)| registered.tool.spec()).collect();
        if let Some(source) = &self.source {
            let others = source.tools();
            let others = others.tools.iter().filter(is_offered);
            let others = others.filter(|(name, _)| !self.tools.contains_key(*name));
            specs.extend(others.map(|(_, registered)| registered.tool.spec()));
            specs.sort_by(|a, b| a.name.cmp(&b.name));
        }
        specs
    }

    /// Returns the specifications of the `wanted` tools that are offered to a run with these
    /// settings.
    pub(crate) fn specs_of_run(
        &self,
        settings: &Settings,
        wanted: impl Fn(&str) -> bool,
    ) -> Vec<ToolSpec> {
        let all = self.current().tools;
        let own = settings.tools.iter().filter(|tool| wanted(&tool.name));
        let offered = |tool: &ToolSpec| {
            let registered = all.get(&tool.name)?;
            Some(if registered.is_reserve { tool.clone() } else { registered.tool.spec() })
        };
        own.filter_map(offered).collect()
    }

    /// Returns the facts of a call like `assess`, for a run with these settings: a tool that is not
    /// offered to the run does not exist for it, and an answer must fit the schema of the run's
    /// settings.
    pub(crate) fn assess_in_run(&self, lane: &LaneId, call: &ToolUse, run: &Settings) -> CallFacts {
        let Some(offered) = run.tools.iter().find(|tool| tool.name == call.name) else {
            return CallFacts::for_unknown_tool(&call.name);
        };
        let is_answer = run.output.as_ref().is_some_and(|output| output.tool == call.name);
        let assess = |tool: &dyn Tool| tool.assess_in_run(lane, run, &call.input);
        let facts = self.assess_by(&call.name, &call.input, assess);
        if is_answer && facts.problem.is_none() {
            let own = || offered.input_schema.clone();
            let problem = InputSchema::default().validate(own, &call.input);
            return CallFacts { problem, ..facts };
        }
        facts
    }

    /// Returns the facts of a call of the conversation on `lane` before it runs. An input that does
    /// not fit the tool's schema is reported as a problem, without calling the tool's own
    /// assessment.
    #[must_use]
    pub fn assess(&self, lane: &LaneId, name: &str, input: &RawJson) -> CallFacts {
        self.assess_by(name, input, |tool| tool.assess_in_lane(lane, input))
    }

    fn assess_by(
        &self,
        name: &str,
        input: &RawJson,
        assess: impl FnOnce(&dyn Tool) -> CallFacts,
    ) -> CallFacts {
        let Some(RegisteredTool { tool, schema, .. }) = self.find(name) else {
            return CallFacts::for_unknown_tool(name);
        };
        match schema.validate(|| tool.spec().input_schema, input) {
            Some(problem) => CallFacts { problem: Some(problem), ..CallFacts::default() },
            None => assess(tool.as_ref()),
        }
    }

    /// Returns whether any of the tools works in the folder of the process.
    #[must_use]
    pub fn needs_workspace(&self) -> bool {
        self.current().tools.values().any(|registered| registered.tool.needs_workspace())
    }

    /// Returns the tools that need no workspace.
    #[must_use]
    pub fn without_workspace(&self) -> Self {
        self.filter(|name| self.find(name).is_some_and(|own| !own.tool.needs_workspace()))
    }

    /// Tells every tool that this process no longer drives the conversation on `lane`.
    pub fn on_lane_released(&self, lane: &LaneId) {
        self.current().tools.values().for_each(|it| it.tool.on_lane_released(lane));
    }
}
