use crate::invocation::Invocation;
use crate::python_env;

fn shown(invocations: &[Invocation]) -> Vec<String> {
    invocations.iter().map(ToString::to_string).collect()
}

#[test]
fn clients_are_installed_before_they_meet_the_binary() {
    let commands = shown(&python_env::client_test_steps().expect("a workspace"));
    assert!(commands[0].starts_with("python3 -m venv "), "{}", commands[0]);
    assert!(commands[1].contains("pip install") && commands[1].ends_with("requirements.txt"));
    assert_eq!(commands[2], "cargo build --profile ci -p windlass-cli");
    assert!(commands[3].contains("clients.py ") && commands[3].ends_with("/ci/windlass"));
}

#[test]
fn what_is_installed_has_a_version() {
    let commands = shown(&python_env::real_model_steps().expect("a workspace"));
    let install = commands.iter().find(|command| command.contains("pip install"));
    let install = install.expect("it installs");
    assert_eq!(install.matches("==").count(), 2, "{install}");
}

#[test]
fn the_clients_are_pinned_one_by_one() {
    let requirements = include_str!("../../tests/python/requirements.txt");
    let pinned = |line: &str| line.split("==").count() == 2 && !line.contains(['/', ' ', '@']);
    assert!(requirements.lines().all(pinned));
}
