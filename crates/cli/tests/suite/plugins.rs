//! Plugins: what they bring, who puts them in force, and that an installation is bound to its content.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::test_home::TestHome;

const SCRIPT: &str = "when user contains \"Ship it from\"\n  say \"typed\"\n\
                      when user is \"skill\" and results 0 and tools include Skill\n  call Skill {\"skill\": \"shop:packing\"}\n\
                      when user contains \"Wrap the goods\"\n  say \"packed\"\n\
                      when user is \"bash\" and results 0\n  call Bash {\"command\": \"true\"}\n\
                      when user is \"server\" and results 0\n  call mcp__plugin_shop_till__echo {\"text\": \"hi\"}\n\
                      when user is \"agent\" and results 0\n  call Agent {\"description\": \"d\", \"prompt\": \"inner\", \"subagent_type\": \"shop:clerk\"}\n\
                      when user is \"inner\"\n  say \"clerk\"\n\
                      when any\n  say \"done ${result}\"\n";

const SERVER: &str = r#"#!/bin/sh
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^[^i]*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) reply '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"till","version":"1"}}' ;;
    *'"tools/list"'*) reply '{"tools":[{"name":"echo","description":"Echoes","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]}' ;;
    *'"tools/call"'*) reply "{\"content\":[{\"type\":\"text\",\"text\":\"$CLAUDE_PLUGIN_ROOT\"}]}" ;;
  esac
done
"#;

/// Writes a plugin with one thing of each kind, in a folder whose name a shell would split.
fn write_plugin(home: &TestHome, folder: &str) {
    let file = |name: &str, text: &str| {
        let path = home.path(folder).join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    };
    file(".claude-plugin/plugin.json", r#"{"name": "shop", "version": "1.2.0", "lspServers": {}}"#);
    file(
        "commands/ship.md",
        "---\nallowed-tools: Read\n---\nShip it from ${CLAUDE_PLUGIN_ROOT} to $1\n",
    );
    file("agents/clerk.md", "---\nname: clerk\ndescription: sells\n---\nYou sell.\n");
    file(
        "skills/packing/SKILL.md",
        "---\nname: packing\ndescription: how to pack\n---\nWrap the goods.\n",
    );
    let hook = r#"{"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}/hooks/note.sh\""}"#;
    file(
        "hooks/hooks.json",
        &format!(r#"{{"description": "d", "hooks": {{"PreToolUse": [{{"hooks": [{hook}]}}]}}}}"#),
    );
    file(
        "hooks/note.sh",
        "#!/bin/sh\necho \"$CLAUDE_PLUGIN_ROOT\" >> \"$CLAUDE_PROJECT_DIR/noted\"\n",
    );
    file(".mcp.json", r#"{"mcpServers": {"till": {"command": "${CLAUDE_PLUGIN_ROOT}/till.sh"}}}"#);
    file("till.sh", SERVER);
}

fn home_with_plugin() -> TestHome {
    let home = TestHome::new(SCRIPT);
    write_plugin(&home, "my plugin");
    home
}

fn read(home: &TestHome, name: &str) -> String {
    std::fs::read_to_string(home.path(name)).unwrap_or_default()
}

#[test]
fn a_plugin_brings_commands_skills_agents_hooks_and_servers_under_its_name() {
    let home = home_with_plugin();
    let given = ["--plugin-dir", "my plugin"];
    let run = |prompt: &str, more: &[&str]| {
        home.run_prompt_unattended(prompt, &[&given[..], more].concat())
    };
    let root = home.path("my plugin").canonicalize().unwrap().display().to_string();
    assert_eq!(run("/shop:ship town", &[]).out, "typed\n");
    assert_eq!(run("skill", &[]).out, "packed\n");
    assert_eq!(run("agent", &[]).out, "done clerk\n");
    let served = run("server", &["--allowedTools", "mcp__plugin_shop_till__echo"]);
    assert!(served.out.contains(&root), "{} {}", served.out, served.err);
    assert_eq!(run("bash", &["--allowedTools", "Bash"]).code, 0);
    assert!(read(&home, "noted").lines().all(|line| line == root), "{}", read(&home, "noted"));
    assert!(!read(&home, "noted").is_empty());
    // Without the flag nothing of it is there.
    assert!(home.run_prompt_unattended("/shop:ship town", &[]).err.contains("shop:ship"));
    assert_eq!(home.run_prompt_unattended("skill", &[]).out, "done \n");
    let without = home.run_prompt_unattended("server", &["--plugin-dir-no-mcp", "my plugin"]);
    assert!(!without.out.contains(&root), "{}", without.out);
}

#[test]
fn an_installed_plugin_is_listed_switched_and_removed() {
    let home = home_with_plugin();
    let plugin = |args: &[&str]| home.run_bare(&[&["plugin"], args].concat());
    assert_eq!(
        plugin(&["list"]).out.lines().next(),
        Some("No plugins are installed; install one with `windlass plugin install FOLDER`.")
    );
    let refused = plugin(&["install", "my plugin"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("--yes") && refused.out.contains("note.sh"),
        "{} {}",
        refused.out,
        refused.err
    );
    let shown = plugin(&["install", "--yes", "my plugin"]).out;
    assert!(
        shown.contains("hook         PreToolUse: \"${CLAUDE_PLUGIN_ROOT}/hooks/note.sh\""),
        "{shown}"
    );
    assert!(shown.contains("/shop:ship: allowed-tools Read"), "{shown}");
    assert!(shown.ends_with("The plugin shop is installed.\n"), "{shown}");
    let skill = || home.run_prompt_unattended("skill", &[]).out;
    assert_eq!(skill(), "packed\n");
    assert_eq!(
        plugin(&["list"]).out,
        "shop 1.2.0 (enabled): 1 command, 1 agent, 1 skill, 1 hook, 1 MCP server\n"
    );
    // What the source becomes afterwards changes nothing.
    std::fs::write(home.path("my plugin/skills/packing/SKILL.md"), "nothing").unwrap();
    assert_eq!(skill(), "packed\n");
    assert_eq!(plugin(&["disable", "shop"]).out, "The plugin shop is disabled.\n");
    assert_eq!(plugin(&["disable", "shop"]).out, "The plugin shop is already disabled.\n");
    assert_eq!(skill(), "done \n");
    let enabled = r#"{"enabledPlugins": {"shop@market": true}}"#;
    assert_eq!(home.run_prompt_unattended("skill", &["--settings", enabled]).out, "packed\n");
    assert_eq!(plugin(&["enable", "shop"]).code, 0);
    let disabled = r#"{"enabledPlugins": {"shop": false}}"#;
    assert_eq!(home.run_prompt_unattended("skill", &["--settings", disabled]).out, "done \n");
    assert_eq!(home.run_prompt_unattended("skill", &["--bare"]).out, "done \n");
    let misspelled = plugin(&["remove", "shap"]);
    assert!(misspelled.err.contains("did you mean `shop`?"), "{}", misspelled.err);
    assert_eq!(plugin(&["remove", "shop"]).out, "The plugin shop is removed.\n");
    assert_eq!(skill(), "done \n");
    assert!(!home.path("home/plugins/shop").exists());
}

#[test]
fn an_installed_plugin_that_was_changed_stops_runs() {
    let home = home_with_plugin();
    assert_eq!(home.run_bare(&["plugin", "install", "-y", "my plugin"]).code, 0);
    std::fs::write(home.path("home/plugins/shop/hooks/note.sh"), "#!/bin/sh\necho owned\n")
        .unwrap();
    let ran = home.run_prompt_unattended("bash", &["--allowedTools", "Bash"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("the plugin shop was changed after it was installed"), "{}", ran.err);
    assert!(!home.path("noted").exists());
    let doctor = home.run_bare(&["doctor"]);
    assert!(doctor.out.contains("was changed after it was installed"), "{}", doctor.out);
    let list = home.run_bare(&["plugin", "list", "--json"]).out;
    let list: Value = serde_json::from_str(&list).unwrap();
    assert!(list["plugins"][0]["error"].as_str().unwrap().contains("changed"), "{list}");
    assert_eq!(home.run_bare(&["plugin", "install", "-y", "my plugin"]).code, 0);
    assert_eq!(home.run_prompt_unattended("bash", &["--allowedTools", "Bash"]).code, 0);
}

#[test]
fn a_project_switches_plugins_only_while_it_is_trusted() {
    let home = home_with_plugin();
    assert_eq!(home.run_bare(&["plugin", "install", "-y", "my plugin"]).code, 0);
    assert_eq!(home.run_bare(&["plugin", "disable", "shop"]).code, 0);
    std::fs::create_dir_all(home.path(".claude")).unwrap();
    home.write(".claude/settings.json", r#"{"enabledPlugins": {"shop@market": true}}"#);
    assert_eq!(home.run_prompt_unattended("skill", &[]).out, "done \n");
    assert_eq!(home.run_bare(&["trust"]).code, 0);
    assert_eq!(home.run_prompt_unattended("skill", &[]).out, "packed\n");
}

#[test]
fn folders_that_are_no_plugin_are_errors_that_say_why() {
    let home = home_with_plugin();
    let cases = [
        ("empty", "", "", "is not a plugin"),
        ("nameless", ".claude-plugin/plugin.json", "{}", "has no `name`"),
        ("odd-name", ".claude-plugin/plugin.json", r#"{"name": "../up"}"#, "is not valid"),
        (
            "typo",
            ".claude-plugin/plugin.json",
            r#"{"name": "a", "hoks": {}}"#,
            "did you mean `hooks`?",
        ),
        (
            "outside",
            ".claude-plugin/plugin.json",
            r#"{"name": "a", "commands": "../b"}"#,
            "a path in the folder",
        ),
        (
            "bad-hooks",
            "hooks/hooks.json",
            r#"{"hooks": {"PreToolUs": []}}"#,
            "did you mean `PreToolUse`?",
        ),
        ("no-json", ".mcp.json", "{", "is not valid JSON"),
    ];
    for (folder, file, text, reason) in cases {
        let path = home.path(folder).join(file);
        let parent = if file.is_empty() { path.as_path() } else { path.parent().unwrap() };
        std::fs::create_dir_all(parent).unwrap();
        if !file.is_empty() {
            std::fs::write(&path, text).unwrap();
        }
        let installed = home.run_bare(&["plugin", "install", "-y", folder]);
        assert!(
            installed.code != 0 && installed.err.contains(reason),
            "{folder}: {}",
            installed.err
        );
        let ran = home.run_prompt_unattended("hi", &["--plugin-dir", folder]);
        assert!(ran.code == 2 && ran.err.contains(reason), "{folder}: {}", ran.err);
    }
    let missing = home.run_prompt_unattended("hi", &["--plugin-dir", "nowhere"]);
    assert!(
        missing.code == 2 && missing.err.contains("there is no folder nowhere"),
        "{}",
        missing.err
    );
    std::os::unix::fs::symlink("/etc/passwd", home.path("my plugin/link")).unwrap();
    let linked = home.run_bare(&["plugin", "install", "-y", "my plugin"]);
    assert!(linked.code != 0 && linked.err.contains("is a link"), "{}", linked.err);
    let typo = r#"{"enabledPlugins": {"shop": "yes"}}"#;
    let ran = home.run_prompt_unattended("hi", &["--settings", typo]);
    assert!(
        ran.code == 2 && ran.err.contains("`enabledPlugins.shop` must be true or false"),
        "{}",
        ran.err
    );
}

#[test]
fn tools_cannot_change_a_plugin_in_the_workspace() {
    let home = TestHome::new(
        "when results 0\n  call Write {\"file_path\": \"my plugin/hooks/note.sh\", \"content\": \"owned\"}\n\
         when any\n  say \"${result}\"\n",
    );
    write_plugin(&home, "my plugin");
    let flags = ["--plugin-dir", "my plugin", "--allowedTools", "Write"];
    home.run_prompt_unattended("go", &flags);
    assert!(read(&home, "my plugin/hooks/note.sh").contains("CLAUDE_PLUGIN_ROOT"));
}

#[test]
fn the_init_message_lists_plugins() {
    let home = home_with_plugin();
    let ran = home.run_prompt_unattended(
        "hi",
        &["--plugin-dir", "my plugin", "--output-format", "stream-json", "--verbose"],
    );
    let init: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(init["plugins"][0]["name"], "shop");
    assert_eq!(
        init["plugins"][0]["path"],
        home.path("my plugin").canonicalize().unwrap().to_str().unwrap()
    );
    assert!(init["slash_commands"].as_array().unwrap().contains(&"shop:ship".into()), "{init}");
    assert!(init["agents"].as_array().unwrap().contains(&"shop:clerk".into()), "{init}");
}
