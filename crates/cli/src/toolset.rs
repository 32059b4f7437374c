//! The tools of a conversation: the standard set, as far as it is offered.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use windlass::Toolbox;
use windlass::core::gate::Output;
use windlass::core::permission::{Mode, Permissions};
use windlass::core::words;
use windlass::ports::Clock;
use windlass::tools::{
    Agent, ExitPlanMode, JournalTool, STANDARD, SpawnChildRuns, StructuredOutput, Workplace, Zones,
    files_run_by, standard_only,
};

use crate::args::AgentArgs;
use crate::settle::agents::FileAgent;
use crate::settle::{mcp_servers, paths, sources::Source};

/// The name that offers children.
pub(crate) const AGENT: &str = "Agent";

/// Other names that people know tools by.
const ALSO: [(&str, &str); 2] = [("Task", AGENT), ("ask_human", "AskUserQuestion")];

/// The tool that a name means.
pub(crate) fn called(name: &str) -> &str {
    ALSO.iter().find(|(also, _)| *also == name).map_or(name, |(_, tool)| *tool)
}

/// Every name that a rule can be about, in order.
pub(crate) fn every_name() -> impl Iterator<Item = &'static str> {
    let more = [AGENT, JOURNAL, "spawn_child_runs", StructuredOutput::NAME];
    let journal = JournalTool::all().into_iter().map(JournalTool::name);
    STANDARD.iter().copied().chain(more).chain(journal)
}

/// The name that offers the run journal.
const JOURNAL: &str = "Journal";

/// The tools that are offered.
pub(crate) fn toolbox(
    args: &AgentArgs,
    (rules, agents): (&Permissions, &[FileAgent]),
    workplace: &Workplace,
) -> anyhow::Result<Toolbox> {
    let names = offered(args.permissions.tools.as_deref())?;
    // A tool that may never run is not offered either.
    let blocked =
        |name: &&str| rules.disallowed.iter().any(|rule| rule.is_unscoped() && rule.names(name));
    let names: Vec<&str> = names.into_iter().filter(|name| !blocked(name)).collect();
    let mut tools = standard_only(workplace, names.iter().copied());
    if names.contains(&AGENT) {
        let (mut one, mut several) = (Agent::default(), SpawnChildRuns::default());
        for agent in agents {
            one = one.with(&agent.name, &agent.about);
            several = several.with(&agent.name, &agent.about);
        }
        tools = tools.with(one).with(several);
    }
    if names.contains(&JOURNAL) {
        tools = JournalTool::all().into_iter().fold(tools, Toolbox::with);
    }
    if rules.mode == Mode::Plan && !blocked(&words::EXIT_PLAN_MODE) {
        tools = tools.with(ExitPlanMode);
    }
    if let Some(schema) = &args.prompt.json_schema {
        tools = tools.with(StructuredOutput::new(schema)?);
    }
    Ok(tools)
}

/// The same tools and those that a run may bring along with its prompt: they are offered to no other.
pub(crate) fn with_reserves(tools: Toolbox, args: &AgentArgs) -> anyhow::Result<Toolbox> {
    // A run is checked against the schema that it brought.
    let schema = args.prompt.json_schema.as_deref();
    let output =
        schema.map_or_else(|| Ok(StructuredOutput::of_any_object()), StructuredOutput::new);
    Ok(tools.with_reserve(ExitPlanMode).with_reserve(output?))
}

/// How an answer that must fit a schema is given.
pub(crate) fn output(args: &AgentArgs) -> Option<Output> {
    args.prompt.json_schema.as_ref().map(|_| StructuredOutput::output())
}

/// The place that tools work in.
pub(crate) fn workplace(
    args: &AgentArgs,
    workspace: &Path,
    sources: &[Source],
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Workplace> {
    let mut zones = Zones::new(workspace);
    for folder in &args.permissions.add_dir {
        zones = zones.with_folder(&paths::folder(folder, "--add-dir")?);
    }
    let added = sources.iter().flat_map(|source| &source.permissions.additional_directories);
    // A folder of a settings file that is gone is nobody's mistake at the moment.
    for folder in added.filter_map(|folder| workspace.join(folder).canonicalize().ok()) {
        zones = zones.with_folder(&folder);
    }
    // Whoever writes a script that a hook runs decides what runs, at the very next call. Helpers and
    // servers are run by other agents that use the same files.
    let servers = mcp_servers::commands(workspace);
    let texts = sources.iter().flat_map(Source::commands).chain(servers.iter().map(String::as_str));
    let scripts: Vec<_> = texts.flat_map(|text| files_run_by(text, &zones)).collect();
    zones = scripts.iter().fold(zones, |zones, script| zones.keeping_file(script));
    let variables = sources.iter().flat_map(|source| source.env.clone());
    let workplace = Workplace::over(zones).timed_by(Arc::clone(clock)).with_variables(variables);
    Ok(match paths::state() {
        Ok(state) if paths::can_be_written(&state) => workplace.keeping_in(state.join("desks")),
        // What tools remember goes with this process: without it no file could be edited at all.
        Ok(_) | Err(_) => workplace,
    })
}

/// Names as they are typed: `default` means all.
fn offered(list: Option<&str>) -> anyhow::Result<Vec<&'static str>> {
    let all = || STANDARD.iter().copied().chain([AGENT, JOURNAL]);
    let Some(list) = list.filter(|list| list.trim() != "default") else {
        return Ok(all().collect());
    };
    let mut names = Vec::new();
    for typed in list.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()) {
        match all().find(|name| *name == called(typed)) {
            Some(name) => names.push(name),
            None => {
                let known = all().collect::<Vec<_>>().join(", ");
                bail!("there is no tool {typed}; there are {known}");
            }
        }
    }
    Ok(names)
}
