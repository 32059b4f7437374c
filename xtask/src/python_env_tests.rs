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
    assert!(commands[4].contains("otlp.py ") && commands[4].ends_with("/ci/windlass"));
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

#[test]
fn the_agent_sdk_is_built_from_source_and_meets_the_binary_of_the_check() {
    let commands = shown(&python_env::sdk_test_steps().expect("a workspace"));
    let installs: Vec<_> = commands.iter().filter(|c| c.contains("pip install")).collect();
    assert!(installs.iter().all(|install| install.contains("--require-hashes")), "{installs:?}");
    assert!(installs[0].ends_with("requirements-build.txt"), "{}", installs[0]);
    assert!(installs[1].ends_with("sdk/requirements.txt"), "{}", installs[1]);
    let last = commands.last().expect("steps");
    assert!(last.starts_with("WINDLASS=") && last.contains("/ci/windlass "), "{last}");
    assert!(last.contains("-m pytest") && last.ends_with("tests/python/sdk"), "{last}");
}

#[test]
fn only_the_source_distribution_of_the_agent_sdk_is_accepted() {
    let requirements = include_str!("../../tests/python/sdk/requirements.txt");
    let after = requirements.split_once("\nclaude-agent-sdk==").expect("the SDK is pinned").1;
    let hashes = after.lines().skip(1).take_while(|line| line.contains("--hash="));
    assert_eq!(hashes.count(), 1);
    assert!(!requirements.contains("://"));
}
