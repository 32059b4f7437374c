use crate::invocation::Invocation;
use crate::node_env;

fn shown(invocations: &[Invocation]) -> Vec<String> {
    invocations.iter().map(ToString::to_string).collect()
}

#[test]
fn cases_of_an_earlier_run_are_removed_before_the_new_ones_are_compiled() {
    let commands = shown(&node_env::sdk_test_steps().expect("a workspace"));
    let position = |part: &str| commands.iter().position(|command| command.contains(part));
    let order = ["rm -rf", "cp -R", "npm ci", "bin/tsc", "--profile ci", "build/run.js"];
    let found: Vec<_> = order.iter().map(|part| position(part)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{commands:?}");
}

#[test]
fn the_cli_of_the_sdk_is_not_installed() {
    let commands = shown(&node_env::sdk_test_steps().expect("a workspace"));
    let install = commands.iter().find(|command| command.starts_with("npm ")).expect("it installs");
    assert!(install.contains("--omit=optional"), "{install}");
}

#[test]
fn the_cases_run_with_the_binary_of_the_check() {
    let commands = shown(&node_env::sdk_test_steps().expect("a workspace"));
    let last = commands.last().expect("steps");
    assert!(last.starts_with("WINDLASS=") && last.contains("/ci/windlass node "), "{last}");
}

#[test]
fn packages_have_versions_and_hashes_and_no_addresses() {
    for (manifest, lock) in [
        (
            include_str!("../../tests/typescript/package.json"),
            include_str!("../../tests/typescript/package-lock.json"),
        ),
        (
            include_str!("../../dashboard/package.json"),
            include_str!("../../dashboard/package-lock.json"),
        ),
        (
            include_str!("../../tests/dashboard/package.json"),
            include_str!("../../tests/dashboard/package-lock.json"),
        ),
    ] {
        assert!(!lock.contains("\"resolved\""));
        let packages = lock.matches("\"node_modules/").count();
        assert!(packages > 3 && lock.matches("\"integrity\"").count() == packages);
        assert!(!manifest.contains(['^', '~', '*']));
    }
}

#[test]
fn the_dashboard_is_built_and_compared_before_it_is_tested() {
    let commands = shown(&node_env::dashboard_test_steps().expect("a workspace"));
    let position = |part: &str| commands.iter().position(|command| command.contains(part));
    let order =
        ["install -y", "npm ci", "bin/tsc", "run --silent build", "diff -r", "build/run.js"];
    let found: Vec<_> = order.iter().map(|part| position(part)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{commands:?}");
}

#[test]
fn the_conformance_suite_runs_on_its_own_node_with_the_binary_of_the_check() {
    let commands = shown(&node_env::mcp_test_steps().expect("a workspace"));
    let last = commands.last().expect("steps");
    assert!(last.contains("node_modules/node/bin/node") && last.ends_with("run.mjs"), "{last}");
    assert!(last.contains("/ci/windlass "), "{last}");
}

#[test]
fn the_editor_cases_have_versions_and_hashes_and_no_addresses() {
    let lock = include_str!("../../tests/typescript-acp/package-lock.json");
    assert!(!lock.contains("://") && !lock.contains("\"resolved\""));
    let packages = lock.matches("\"node_modules/").count();
    assert!(packages > 2 && lock.matches("\"integrity\"").count() == packages);
    let manifest = include_str!("../../tests/typescript-acp/package.json");
    assert!(!manifest.contains(['^', '~', '*']));
    let commands = shown(&node_env::acp_test_steps().expect("a workspace"));
    assert!(commands.iter().any(|command| command.contains("acp-typescript/build/run.js")));
}
