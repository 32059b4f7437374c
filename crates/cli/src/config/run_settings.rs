//! Settings given with one prompt, which apply to its run only.

use windlass::core::message::prompt_texts::EXIT_PLAN_MODE;
use windlass::core::permission::HumanAvailability;
use windlass::core::settings::conversation_settings::{Settings, Temperature};
use windlass::core::settings::run_settings::{RunControls, RunSettings};

use super::config_toml::{self, ProfileConfig};
use super::model_controls::ModelControls;
use crate::args::{AgentArgs, LimitArgs, ModelArgs, PermissionArgs, PromptArgs};
use crate::config::claude::sandbox_keys::ClaudeSandbox;
use crate::config::claude::settings_sources;

/// The flags without those that apply to this prompt alone: the flags for other prompts that this
/// process drives.
pub(crate) fn for_other_runs(args: &AgentArgs) -> AgentArgs {
    // Destructured, so that a new group of flags must be assigned here. What stays says where this
    // process works and how it prints; what cannot be limited to one run is rejected if another run
    // comes first (`process_flags`).
    let AgentArgs {
        model,
        permissions,
        prompt: _,
        agents,
        mcp,
        limits: _,
        output,
        store,
        beat_ms,
        lease_ms,
        tools_at_once,
        tool_state,
    } = args.clone();
    AgentArgs {
        model: ModelArgs { script: model.script, ..ModelArgs::default() },
        permissions: PermissionArgs {
            workspace: permissions.workspace,
            ..PermissionArgs::default()
        },
        prompt: PromptArgs::default(),
        agents,
        mcp,
        limits: LimitArgs::default(),
        output,
        store,
        beat_ms,
        lease_ms,
        tools_at_once,
        tool_state,
    }
}

/// Returns whether flags were given that apply to this prompt alone.
pub(crate) fn is_given(args: &AgentArgs, others: &AgentArgs) -> bool {
    args.model != others.model
        || args.permissions != others.permissions
        || args.prompt != others.prompt
        || args.limits != others.limits
}

/// The flags that apply to everything a process drives and cannot be sent with a prompt.
pub(crate) fn process_flags(args: &AgentArgs) -> Vec<String> {
    let mut flags = Vec::new();
    if !args.agents.given.is_empty() {
        flags.push("--agents".to_owned());
    }
    if !args.mcp.mcp_config.is_empty() {
        flags.push("--mcp-config".to_owned());
    }
    if !args.permissions.plugins.is_empty() {
        flags.push("--plugin-dir".to_owned());
    }
    if args.mcp.strict_mcp_config {
        flags.push("--strict-mcp-config".to_owned());
    }
    let is_bare = args.agents.bare;
    let args = &args.permissions;
    if !args.add_dir.is_empty() {
        flags.push("--add-dir".to_owned());
    }
    if args.sandbox.is_some() {
        flags.push("--sandbox".to_owned());
    }
    match args.setting_sources {
        Some(_) if is_bare => flags.push("--bare".to_owned()),
        Some(_) => flags.push("--setting-sources".to_owned()),
        None => {}
    }
    // Unreadable settings are reported when they are read for the run.
    for (flag, given) in settings_sources::all_given(args).unwrap_or_default() {
        let parts = [
            ("hooks", given.hooks.as_object().is_some_and(|hooks| !hooks.is_empty())),
            ("env", !given.env.is_empty()),
            ("sandbox", given.sandbox != ClaudeSandbox::default()),
            ("additionalDirectories", !given.permissions.additional_directories.is_empty()),
        ];
        let parts = parts.into_iter().filter(|(_, is_given)| *is_given);
        flags.extend(parts.map(|(name, _)| format!("`{name}` in {flag}")));
    }
    flags
}

/// The model given with a prompt: by its flag, its profile, or its settings.
pub(crate) fn given_model(
    args: &AgentArgs,
    profile: &ProfileConfig,
) -> anyhow::Result<Option<String>> {
    let by_profile = || profile.model.clone().filter(|_| args.limits.profile.is_some());
    let by_settings =
        || anyhow::Ok(settings_sources::given(&args.permissions)?.and_then(|given| given.model));
    match args.model.model.clone().or_else(by_profile) {
        Some(name) => Ok(Some(name)),
        None => by_settings(),
    }
}

/// The settings that a detached prompt takes along: those given with it. The worker provides
/// everything else, including whether a human can be asked.
pub(crate) fn explicit_run_settings(
    args: &AgentArgs,
    settings: &Settings,
) -> anyhow::Result<RunSettings> {
    // Destructured, so that a new flag must be assigned here.
    let AgentArgs {
        model,
        permissions,
        prompt,
        agents: _,
        mcp: _,
        limits,
        output: _,
        store: _,
        beat_ms: _,
        lease_ms: _,
        tools_at_once: _,
        tool_state: _,
    } = args;
    let profile = match limits.profile.as_deref() {
        Some(name) => config_toml::read()?.find_profile(Some(name))?,
        None => ProfileConfig::default(),
    };
    let models = given_model(args, &profile)?.is_some() && !settings.model.name.is_empty();
    let asked = ModelControls::from_args(model)?.or(profile.controls());
    let all = RunSettings::from_settings(settings);
    let PermissionArgs {
        allow,
        deny,
        permission_mode,
        dangerously_skip_permissions,
        allow_dangerously_skip_permissions: _,
        permission_prompts: _,
        when_asked,
        tools,
        // The workspace belongs to the conversation; the rest is rejected or takes effect here.
        workspace: _,
        add_dir: _,
        plugins: _,
        sandbox: _,
        settings: in_json,
        managed_settings,
        setting_sources: _,
        strict_settings: _,
    } = permissions;
    let rules = !allow.is_empty()
        || !deny.is_empty()
        || permission_mode.is_some()
        || *dangerously_skip_permissions
        || when_asked.is_some()
        || in_json.is_some()
        || managed_settings.is_some();
    let PromptArgs {
        system_prompt,
        append_system_prompt,
        json_schema,
        // Files were read into the texts above.
        system_prompt_file: _,
        disable_slash_commands: _,
        append_system_prompt_file: _,
    } = prompt;
    // The model is told about a given end marker.
    let stops = asked.stop_sequences.is_some();
    let given = settings_sources::all_given(permissions)?;
    let style = given.iter().any(|(_, source)| source.output_style.is_some());
    let system = system_prompt.is_some() || stops || style;
    let answer = stops || json_schema.is_some() || limits.profile.is_some();
    let added = |name: &str| name != EXIT_PLAN_MODE || rules;
    Ok(RunSettings {
        system: all.system.filter(|_| system),
        system_addition: append_system_prompt.as_deref().filter(|_| !system).map(Into::into),
        tools: all.tools.filter(|_| tools.is_some() || !deny.is_empty()),
        added_tools: all.added_tools.into_iter().filter(|tool| added(&tool.name)).collect(),
        rules: all.rules.filter(|_| rules).map(|mut rules| {
            if when_asked.is_none() {
                rules.human = HumanAvailability::Available;
            }
            rules
        }),
        models: all.models.filter(|_| models),
        controls: controls(model, &asked, settings)?.filter(|_| !models),
        thinking: all.thinking.filter(|_| is_thinking_given(&asked)),
        bounds: all.bounds.filter(|_| *limits != LimitArgs::default()),
        answer: all.answer.filter(|_| answer),
    })
}

/// The model controls for the worker's model.
fn controls(
    args: &ModelArgs,
    asked: &ModelControls,
    settings: &Settings,
) -> anyhow::Result<Option<RunControls>> {
    let names = args.fallback_model.is_some();
    let fallback = settings.fallback.clone().filter(|_| names);
    let further_fallbacks = settings.further_fallbacks.iter().filter(|_| names).cloned().collect();
    let controls = RunControls {
        max_tokens: asked.max_tokens,
        window_tokens: args.window_tokens,
        fallback,
        further_fallbacks,
        temperature: asked.temperature.map(Temperature::new).transpose()?,
        cache: asked.cache_lifetime,
    };
    Ok((controls != RunControls::default()).then_some(controls))
}

fn is_thinking_given(asked: &ModelControls) -> bool {
    asked.effort.is_some()
        || asked.thinking.is_some()
        || asked.thinking_display.is_some()
        || asked.task_budget.is_some()
        || asked.betas.is_some()
}
