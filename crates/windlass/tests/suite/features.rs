//! What the optional parts of the library bring along, and what is left without them.

use std::process::Command;

/// Crates that compile C or assembler code, or link a library in C.
const C_CODE: [&str; 6] = ["cc", "cmake", "ring", "libsqlite3-sys", "tree-sitter", "bindgen"];

/// Returns the names of the crates that the library needs with these features alone.
#[expect(clippy::disallowed_methods, reason = "the test asks cargo")]
fn crates_with(features: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "windlass", "--no-default-features", "--features", features])
        .args(["--edges", "normal,build", "--prefix", "none", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn has(crates: &[String], name: &str) -> bool {
    crates.iter().any(|known| known == name)
}

// spec: SDK-10
#[test]
fn without_features_there_is_no_c_code_and_no_adapter() {
    let crates = crates_with("");
    assert!(has(&crates, "windlass-runtime") && has(&crates, "windlass-store"));
    for name in C_CODE.iter().chain(&["windlass-providers", "windlass-scripted", "lopdf", "hyper"])
    {
        assert!(!has(&crates, name), "{name} is needed without any feature");
    }
}

// spec: SDK-10
#[test]
fn each_feature_brings_its_own_part_alone() {
    let parts = [
        ("sqlite", "rusqlite"),
        ("postgres", "tokio-postgres"),
        ("providers", "windlass-providers"),
        ("scripted", "windlass-scripted"),
        ("pdf", "lopdf"),
        ("shell", "tree-sitter-bash"),
    ];
    for (feature, own) in parts {
        let crates = crates_with(feature);
        let implied = |part: &str| feature == "scripted" && part == "windlass-providers";
        for (_, part) in parts.iter().filter(|(_, part)| !implied(part)) {
            assert_eq!(has(&crates, part), *part == own, "{part} with the feature {feature}");
        }
    }
}
