//! Output styles: `output-styles/*.md` and the setting `outputStyle`.

use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_home::TestHome;

const SAY: &str = "when any\n  say \"Hi.\"\n";
const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];
const POET: &str = "---\nname: poet\ndescription: Rhymes\n---\n\nAnswer in rhymes.\n";
const BRIEF: &str = "---\nkeep-coding-instructions: true\n---\nOne sentence.";

fn home_with_styles() -> TestHome {
    let home = TestHome::new(SAY);
    std::fs::create_dir_all(home.path(".claude/output-styles")).unwrap();
    std::fs::create_dir_all(home.path("user/.claude/output-styles")).unwrap();
    home.write(".claude/output-styles/any-name.md", POET);
    home.write("user/.claude/output-styles/brief.md", BRIEF);
    home
}

fn system_prompt(body: &Value) -> String {
    let blocks = body["system"].as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

fn style(name: &str) -> String {
    json!({"outputStyle": name}).to_string()
}

// spec: SDK-32
#[test]
fn a_style_replaces_the_instructions_for_code_or_keeps_them() {
    let home = home_with_styles();
    let server = RecordingServer::start();
    let prompt = |flags: &[&str]| {
        let (sent, ran) = server.run_prompt(&home, &[&["--model", "sonnet"], flags].concat());
        assert_eq!(ran.err, "");
        system_prompt(&sent.body)
    };
    let usual = prompt(&[]);
    assert!(usual.contains("in the folder") && usual.contains("make small changes"), "{usual}");
    let poet = prompt(&["--settings", &style("poet")]);
    assert!(poet.contains("in the folder") && !poet.contains("make small changes"), "{poet}");
    assert!(poet.ends_with("Answer in rhymes."), "{poet}");
    let brief = prompt(&["--settings", &style("brief"), "--append-system-prompt", "The end."]);
    assert_eq!(brief, format!("{usual}\n\nOne sentence.\n\nThe end."));
    assert_eq!(prompt(&["--settings", &style("default")]), usual);
    // A system prompt that is given has no style.
    let own = prompt(&["--settings", &style("poet"), "--system-prompt", "Mine."]);
    assert_eq!(own, "Mine.");
}

// spec: SDK-32
#[test]
fn the_setting_chooses_a_style_without_trust() {
    let home = home_with_styles();
    home.write("user/.claude/settings.json", &style("brief"));
    let init = |flags: &[&str]| {
        let ran = home.run_prompt("hi", &[STREAM, flags].concat());
        assert_eq!(ran.err, "", "text needs no trust");
        serde_json::from_str::<Value>(ran.out.lines().next().unwrap()).unwrap()
    };
    let first = init(&[]);
    assert_eq!(first["output_style"], "brief");
    assert_eq!(first["available_output_styles"], json!(["default", "brief", "poet"]));
    home.write(".claude/settings.local.json", &style("poet"));
    assert_eq!(init(&[])["output_style"], "poet");
    assert_eq!(init(&["--setting-sources=user,project"])["output_style"], "brief");
    let none = init(&["--setting-sources="]);
    assert_eq!(none["output_style"], "default");
    assert_eq!(none["available_output_styles"], json!(["default"]));
}

// spec: SDK-32
#[test]
fn an_unknown_style_is_an_error_that_names_the_known_ones() {
    let home = home_with_styles();
    home.write(".claude/settings.local.json", &style("local-test-style"));
    let ran = home.run_prompt("hi", &[]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    let error =
        "windlass: unknown output style `local-test-style`; available: default, brief, poet";
    assert_eq!(ran.err.trim_end(), error);
    // Programs of the SDKs expect that the run goes on.
    let flags = ["-p", "hi", "--script", "a.script", "--store", "w.db"];
    let sdk = [("CLAUDE_AGENT_SDK_VERSION", "0.2.182")];
    let ran = home.run_with_env(&[&flags[..], STREAM].concat(), &sdk);
    assert_eq!((ran.code, ran.err), (0, format!("{error}; it has no effect\n")));
    assert!(ran.out.contains(r#""output_style":"local-test-style""#), "{}", ran.out);
    home.write(".claude/settings.local.json", r#"{"outputStyle": 7}"#);
    let ran = home.run_prompt("hi", &[]);
    assert!(ran.code == 2 && ran.err.contains("`outputStyle` must be a text"), "{}", ran.err);
}

#[test]
fn a_style_of_an_untrusted_folder_does_not_hide_the_users() {
    let home = home_with_styles();
    let server = RecordingServer::start();
    home.write(".claude/output-styles/brief.md", "Be evil.");
    let flags = ["--model", "sonnet", "--settings", &style("brief")];
    let prompt = || system_prompt(&server.run_prompt(&home, &flags).0.body);
    assert!(prompt().ends_with("One sentence."), "{}", prompt());
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    assert!(prompt().ends_with("Be evil."), "{}", prompt());
}

#[test]
fn a_file_that_is_no_style_is_told() {
    let home = home_with_styles();
    home.write("user/.claude/output-styles/empty.md", "---\nname: empty\n---\n");
    home.write(
        "user/.claude/output-styles/maybe.md",
        "---\nkeep-coding-instructions: maybe\n---\nHi.",
    );
    let ran = home.run_prompt("hi", &[]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("empty.md is ignored: the file has no text"), "{}", ran.err);
    assert!(ran.err.contains("is `maybe`; use true or false"), "{}", ran.err);
    let doctor = home.run(&["doctor"]).out;
    assert!(doctor.contains("brief, poet") && doctor.contains("empty.md"), "{doctor}");
    home.write("user/.claude/output-styles/empty.md", "---\nnmae: x\n---\nHi.");
    let ran = home.run_prompt("hi", &[]);
    assert!(ran.code == 2 && ran.err.contains("did you mean `name`?"), "{}", ran.err);
}

#[test]
fn user_styles_are_in_the_folder_of_the_environment() {
    let home = home_with_styles();
    std::fs::create_dir_all(home.path("elsewhere/output-styles")).unwrap();
    home.write("elsewhere/output-styles/other.md", "Be other.");
    home.write("elsewhere/settings.json", &style("other"));
    let flags = ["-p", "hi", "--script", "a.script", "--store", "w.db"];
    let folder = home.path("elsewhere");
    let variables = [("CLAUDE_CONFIG_DIR", folder.to_str().unwrap())];
    let ran = home.run_with_env(&[&flags[..], STREAM].concat(), &variables);
    let init: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(init["output_style"], "other");
    assert_eq!(init["available_output_styles"], json!(["default", "other", "poet"]));
}
