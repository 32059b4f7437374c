use crate::invocation::Invocation;

#[test]
fn plain_words_are_shown_as_they_are() {
    let shown = Invocation::new("cargo", &["fmt", "--all", "--check"]).to_string();
    assert_eq!(shown, "cargo fmt --all --check");
}

#[test]
fn words_a_shell_would_split_are_quoted() {
    let shown = Invocation::new("echo", &["a b", "it's", ""]).to_string();
    assert_eq!(shown, r"echo 'a b' 'it'\''s' ''");
}

#[test]
fn variables_come_first_and_are_quoted() {
    let shown = Invocation::new("cargo", &["doc"]).with_variable("RUSTDOCFLAGS", "-D warnings");
    assert_eq!(shown.to_string(), "RUSTDOCFLAGS='-D warnings' cargo doc");
}

#[test]
fn only_cargo_is_replaced_by_the_cargo_that_started_us() {
    assert_eq!(Invocation::new("git", &[]).executable(), "git");
    let ours = std::env::var_os("CARGO").expect("cargo sets it for tests");
    assert_eq!(Invocation::new("cargo", &[]).executable(), ours);
}
