//! The settings of runs whose prompts arrive over the API: options become the flags of a detached
//! prompt, and take the same path.

use std::sync::Arc;

use windlass::SystemClock;
use windlass::core::settings::run_settings::RunSettings;
use windlass_server::RunOptions;

use super::{ModelNeed, RunBase};
use crate::args::values::{parse_dollars, parse_tokens, parse_turns};
use crate::args::{AgentArgs, WhenAsked};
use crate::config::sandbox_level::LevelChoice;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{config_toml, paths, run_settings};

/// Returns the settings for the options of a prompt; `None` if nothing was given. `agent` applies to
/// runs that bring no settings of their own.
pub(crate) fn resolve_run_options(
    agent: &AgentArgs,
    options: &RunOptions,
) -> Result<Option<RunSettings>, String> {
    if *options == RunOptions::default() {
        return Ok(None);
    }
    let settings = prompt_args(agent, options).and_then(|args| build_settings(&args));
    settings.map(Some).map_err(|error| format!("{error:#}"))
}

/// The flags that say what the options say.
fn prompt_args(agent: &AgentArgs, options: &RunOptions) -> anyhow::Result<AgentArgs> {
    // Destructured, so that a new option must be assigned here.
    let RunOptions {
        model,
        profile,
        max_turns,
        max_budget_usd,
        max_budget_tokens,
        append_system_prompt,
    } = options.clone();
    let mut args = run_settings::for_other_runs(agent);
    // The script answers for every model of the worker that has it.
    args.model.script = None;
    args.model.model = model;
    args.prompt.append_system_prompt = append_system_prompt;
    let limits = &mut args.limits;
    limits.profile = profile;
    limits.max_turns = parse_option("max_turns", max_turns, parse_turns)?;
    limits.max_budget_usd = parse_option("max_budget_usd", max_budget_usd, parse_dollars)?;
    limits.max_budget_tokens = parse_option("max_budget_tokens", max_budget_tokens, parse_tokens)?;
    Ok(args)
}

/// Checks an option like the flag of the same name.
fn parse_option<T: ToString, R>(
    name: &str,
    given: Option<T>,
    parse: fn(&str) -> Result<R, String>,
) -> anyhow::Result<Option<R>> {
    let value = given.map(|given| parse(&given.to_string())).transpose();
    value.map_err(|reason| anyhow::anyhow!("`options.{name}` is not valid: {reason}"))
}

fn build_settings(args: &AgentArgs) -> anyhow::Result<RunSettings> {
    let workspace = paths::resolve_folder(&args.permissions.workspace, "--workspace")?;
    let folder = FolderTrust::load(&workspace, |source| args.permissions.reads_source(source))?;
    let config = config_toml::read()?;
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let (asks, earlier_model) = (ModelNeed::NotNeeded, None);
    let level = LevelChoice::of_folder(&args.permissions, &config, &folder)?;
    let base = RunBase::new((&folder, &config, &clock), level, asks, earlier_model);
    let (settings, _) = base.settings(args, WhenAsked::Park, None)?;
    run_settings::explicit_run_settings(args, &settings)
}
