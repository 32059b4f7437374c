//! Which texts of a project's settings may name a program. Only files that such a text names are
//! bound to trust: a variable that points to a file of data, or an announcement that mentions one,
//! must not end trust whenever that file changes.
//!
//! The texts themselves are grants, and bound to trust whether they name a program or not.

use serde_json::{Map, Value, json};

#[cfg(test)]
#[path = "command_texts_tests.rs"]
mod command_texts_tests;

/// Fields of hooks that are never run.
const HOOK_TEXTS: [&str; 4] = ["matcher", "prompt", "statusMessage", "type"];

/// Settings that are never run. Any other setting that is not known here may be.
const TEXT_SETTINGS: [&str; 26] = [
    "agent",
    "advisorModel",
    "allowedMcpServers",
    "attribution",
    "autoMemoryDirectory",
    "autoMode",
    "autoUpdatesChannel",
    "availableModels",
    "claudeMdExcludes",
    "companyAnnouncements",
    "deniedMcpServers",
    "disabledMcpjsonServers",
    "editorMode",
    "effortLevel",
    "enabledMcpjsonServers",
    "forceLoginMethod",
    "forceLoginOrgUUID",
    "language",
    "minimumVersion",
    "model",
    "modelOverrides",
    "outputStyle",
    "plansDirectory",
    "spinnerTipsOverride",
    "spinnerVerbs",
    "teammateMode",
];

/// Variables with which programs find code or the names of other programs, one word each.
const PROGRAM_VARIABLES: &str = "\
    AR AS AWS_CONFIG_FILE BASH_ENV BROWSER CC CPP CXX EDITOR ENV GCONV_PATH HGRCPATH \
    KUBECONFIG LD LESSCLOSE LESSOPEN LIBRARY_PATH MAKEFILES MAKEFLAGS NODE_PATH \
    NVIM_LISTEN_ADDRESS OPENSSL_CONF OPENSSL_ENGINES PAGER PATH PERL5DB PERL5LIB PERL5OPT \
    PERLLIB PHPRC PROMPT_COMMAND PS4 PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONUSERBASE \
    R_PROFILE RUBYLIB RUBYOPT RUSTC SHELL VIMINIT VISUAL ZDOTDIR";

/// Beginnings of the names of such variables.
const PROGRAM_PREFIXES: [&str; 8] =
    ["BASH_FUNC_", "CARGO_", "DYLD_", "GIT_", "LD_", "NPM_CONFIG_", "PIP_", "RUSTC_"];

/// Ends of the names of such variables.
const PROGRAM_SUFFIXES: [&str; 22] = [
    "ASKPASS",
    "_BIN",
    "_BINARY",
    "_CMD",
    "_COMMAND",
    "_EDITOR",
    "_EXE",
    "_EXEC",
    "_EXECUTABLE",
    "_HELPER",
    "_HOOK",
    "_INIT",
    "_LOADER",
    "_OPTIONS",
    "_OPTS",
    "_PAGER",
    "_PLUGIN",
    "_PRELOAD",
    "_PROGRAM",
    "_SCRIPT",
    "_SHELL",
    "_WRAPPER",
];

/// The texts of hooks, servers, variables and other settings that may name a program.
pub(super) fn command_texts(
    (hooks, env): (&[Value], &[Value]),
    servers: &Value,
    other_settings: &[Value],
) -> Vec<Value> {
    let mut texts: Vec<Value> =
        hooks.iter().map(|hooks| without_fields(hooks, &HOOK_TEXTS)).collect();
    texts.extend(other_settings.iter().map(without_text_settings));
    texts.extend(server_texts(servers));
    let commands = json!(texts).to_string();
    texts.extend(env.iter().map(|env| program_variables(env, &commands)));
    texts
}

/// The servers, without those of their variables that name no program.
fn server_texts(servers: &Value) -> Vec<Value> {
    let table = servers.get("mcpServers").and_then(Value::as_object);
    let Some(table) = table else { return vec![servers.clone()] };
    table.values().map(server_text).collect()
}

fn server_text(server: &Value) -> Value {
    let commands = without_fields(server, &["env"]);
    let env = server.get("env").unwrap_or(&Value::Null);
    json!([commands, program_variables(env, &commands.to_string())])
}

/// The variables that name a program: by their own name, or because a command uses them. Only names
/// are judged: what is not a table of variables counts as a whole.
fn program_variables(env: &Value, commands: &str) -> Value {
    let Some(table) = env.as_object() else { return env.clone() };
    let is_used = |name: &str| {
        commands.contains(&format!("${name}")) || commands.contains(&format!("${{{name}"))
    };
    let kept = table.iter().filter(|(name, _)| is_program_variable(name) || is_used(name));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn is_program_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    PROGRAM_VARIABLES.split(' ').any(|known| known == name)
        || PROGRAM_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || PROGRAM_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

fn without_text_settings(settings: &Value) -> Value {
    let Some(table) = settings.as_object() else { return settings.clone() };
    let kept = table.iter().filter(|(name, _)| !TEXT_SETTINGS.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// The value without the fields of these names, in all tables of it.
fn without_fields(value: &Value, names: &[&str]) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.iter().filter(|(name, _)| !names.contains(&name.as_str()));
            let kept = kept.map(|(name, value)| (name.clone(), without_fields(value, names)));
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(list) => list.iter().map(|value| without_fields(value, names)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
