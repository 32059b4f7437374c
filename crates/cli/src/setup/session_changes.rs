//! Changes of a session that a program or an editor asks for: mode, model, custom commands; and
//! whether its model can be called.

use std::sync::Arc;

use windlass::SystemClock;
use windlass::core::permission::{CommandConfinement, PermissionMode, PermissionRule};
use windlass::core::settings::conversation_settings::Settings;
use windlass::process_rights;

use super::select_model;
use crate::args::AgentArgs;
use crate::config::claude::custom_commands::CustomCommand;
use crate::config::claude::permission_settings;
use crate::config::{config_toml, model_selection};
use crate::messages;
use crate::prompt::command_arguments;

/// The names by which people choose a model, and what to expect of it.
pub(crate) const MODEL_CHOICES: [(&str, &str, &str); 4] = [
    ("default", "Default", "the model of the settings"),
    ("opus", "Opus", "for the hardest work"),
    ("sonnet", "Sonnet", "for everyday work"),
    ("haiku", "Haiku", "fast and cheap"),
];

/// Checks that a session that started with these flags and settings may use this mode.
pub(crate) fn check_mode(
    mode: PermissionMode,
    args: &AgentArgs,
    initial: &Settings,
) -> Result<(), String> {
    mode.validate(process_rights()).map_err(|error| error.to_string())?;
    let needs_sandbox = matches!(mode, PermissionMode::BypassPermissions | PermissionMode::Auto);
    if needs_sandbox && initial.rules.confinement == CommandConfinement::Missing {
        return Err(messages::sandbox::MODE_NEEDS_SANDBOX.to_owned());
    }
    let may_bypass = args.permissions.allow_dangerously_skip_permissions
        || initial.rules.mode == PermissionMode::BypassPermissions;
    match mode {
        PermissionMode::BypassPermissions if !may_bypass => Err(
            "the mode bypassPermissions is not available, because the session was not started with \
             --dangerously-skip-permissions or --allow-dangerously-skip-permissions"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

/// Sets the model; without a name, or with `default`, that of the start is used again.
pub(crate) fn set_model(
    settings: &mut Settings,
    initial: &Settings,
    (name, args): (Option<&str>, &AgentArgs),
) -> anyhow::Result<()> {
    match name.filter(|name| !matches!(*name, "" | "default")) {
        Some(name) => {
            let mut args = args.clone();
            args.model.model = Some(name.to_owned());
            select_model(settings, &args)
        }
        None => {
            settings.model = initial.model.clone();
            settings.fallback.clone_from(&initial.fallback);
            settings.window.summariser = initial.window.summariser.clone();
            Ok(())
        }
    }
}

/// Makes a prompt of a custom command. Its rules and its model apply to this prompt alone.
pub(crate) fn expand_custom_command(
    (command, rest): (&CustomCommand, &str),
    mut settings: Settings,
    args: &AgentArgs,
) -> anyhow::Result<(String, Settings)> {
    let page = command
        .read_page()
        .map_err(|reason| anyhow::anyhow!("cannot use /{}: {reason}", command.name))?;
    let rules = page.rules.iter().flat_map(|rules| permission_settings::split_list(rules));
    let rules = rules.map(|rule| permission_settings::parse_rule(&rule));
    settings.rules.allow.extend(rules.collect::<Result<Vec<PermissionRule>, _>>()?);
    if let Some(model) = page.model.filter(|_| args.model.model.is_none()) {
        let mut args = args.clone();
        args.model.model = Some(model);
        select_model(&mut settings, &args)?;
    }
    Ok((command_arguments::fill_arguments(&page.prompt, rest), settings))
}

/// Checks that the model of a run with these flags can be called, as far as that can be known
/// without calling it. Settings files of a folder are not read.
pub(crate) fn check_model(args: &AgentArgs) -> anyhow::Result<()> {
    let config = config_toml::read()?;
    let profile = config.find_profile(args.limits.profile.as_deref())?;
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let known = (&config, &profile);
    let named = model_selection::configured_model(&args.model, (&config, &profile, &[]));
    let mut settings = Settings::new(windlass::ModelSettings::with_defaults(""));
    let models =
        model_selection::describe(&mut settings, &args.model, known, (named, None), &clock)?;
    model_selection::open(&settings, &args.model, models, &clock).map(drop)
}
