use std::ffi::OsString;

use super::environment::CommandEnvironment;

fn allowed_names(names: &[&str]) -> Vec<String> {
    let variables = names.iter().map(|name| (OsString::from(name), OsString::from("value")));
    let environment = CommandEnvironment::from_allowed(variables);
    environment.iter().map(|(n, v)| format!("{}={}", n.display(), v.display())).collect()
}

#[test]
fn only_what_is_allowed_goes_through() {
    let hostile = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "GIT_SSH_COMMAND",
        "GIT_PAGER",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "RUSTC_WRAPPER",
        "PAGER",
        "EDITOR",
        "SOME_API_KEY",
        "WINDLASS_HOME",
        "BASH_FUNC_ls%%",
        "PATHS",
        "path",
        "TERM",
    ];
    assert_eq!(allowed_names(&hostile), ["TERM=dumb", "PATH=/usr/local/bin:/usr/bin:/bin"]);
}

#[test]
fn what_programs_need_is_there() {
    let needed =
        ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "USER", "TMPDIR", "VIRTUAL_ENV", "JAVA_HOME", "TZ"];
    let through = allowed_names(&needed);
    assert!(needed.iter().all(|name| through.contains(&format!("{name}=value"))), "{through:?}");
    assert_eq!(through.len(), needed.len() + 2);
}

#[test]
fn a_nul_in_a_value_does_not_stop_the_command() {
    let environment = CommandEnvironment::default().with("WINDLASS_CALL", "run:\0id");
    assert_eq!(environment.get("WINDLASS_CALL").unwrap(), "run:\u{fffd}id");
}

/// A relative folder is another one in every workspace, and an empty entry is the workspace itself.
#[test]
fn only_absolute_folders_are_searched_for_programs() {
    let path = |value: &str| {
        let variables = [(OsString::from("PATH"), OsString::from(value))].into_iter();
        CommandEnvironment::from_allowed(variables).get("PATH").unwrap().to_owned()
    };
    let rows = [
        ("/a:/b", "/a:/b"),
        (".:/a", "/a"),
        ("/a:", "/a"),
        (":/a", "/a"),
        ("/a::/b", "/a:/b"),
        ("node_modules/.bin:/a:../b:~/c", "/a"),
        ("", "/usr/local/bin:/usr/bin:/bin"),
        (".", "/usr/local/bin:/usr/bin:/bin"),
        ("bin:lib", "/usr/local/bin:/usr/bin:/bin"),
    ];
    for (value, expected) in rows {
        assert_eq!(path(value), expected, "{value:?}");
        let set = CommandEnvironment::default().with("PATH", value);
        assert_eq!(set.get("PATH").unwrap(), expected, "{value:?}");
    }
}
