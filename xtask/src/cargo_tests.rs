use crate::cargo;
use crate::invocation::Invocation;

fn shown(invocations: &[Invocation]) -> Vec<String> {
    invocations.iter().map(ToString::to_string).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn clippy_denies_warnings() {
    let all = "cargo clippy --workspace --all-targets --profile ci -- -D warnings";
    let least = "cargo clippy --package windlass --no-default-features --profile ci -- -D warnings";
    assert_eq!(shown(&cargo::clippy()), [all, least]);
}

#[test]
fn no_test_is_left_out_for_want_of_a_feature() {
    let points = "cargo test -p windlass-store --features faults --profile ci --test all \
                  -- sqlite_faults:: postgres_points::";
    assert_eq!(shown(&cargo::test()), ["cargo test --workspace --profile ci", points]);
}

#[test]
fn documentation_denies_warnings() {
    let command = "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --profile ci";
    assert_eq!(shown(&cargo::document()), [command]);
}

#[test]
fn arguments_reach_the_program_and_not_cargo() {
    let command = "cargo run --release -q -p windlass-sim --bin simulate -- --seeds 7";
    assert_eq!(shown(&cargo::simulate(&words("--seeds 7"))), [command]);
}

#[test]
fn takeover_is_given_the_binary_that_was_built_for_it() {
    let commands =
        shown(&cargo::bench("takeover", &words("--conversations 3")).expect("a workspace"));
    assert_eq!(commands[0], "cargo build --release -p windlass-cli");
    assert!(commands[1].contains(" --bin takeover -- --conversations 3 --bin "), "{}", commands[1]);
    assert!(commands[1].ends_with("/release/windlass"), "{}", commands[1]);
}

#[test]
fn torture_builds_the_binary_it_kills() {
    let commands = shown(&cargo::torture(&words("--kills 3")).expect("a workspace"));
    assert_eq!(commands[0], "cargo build --release -p windlass-cli --features faults");
    assert!(commands[1].starts_with("cargo run --release -q -p windlass-torture -- --bin "));
    assert!(commands[1].ends_with("/release/windlass --kills 3"), "{}", commands[1]);
}
