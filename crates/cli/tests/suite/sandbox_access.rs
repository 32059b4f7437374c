//! What the sandbox kept a command from: a person is asked, and exactly that is added.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::terminal::TerminalSession;
use crate::test_home::TestHome;

/// A workspace, and a folder outside of it that commands cannot write.
struct Place {
    home: TestHome,
    outside: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { home: TestHome::new(""), outside }
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.outside.path().canonicalize().unwrap().join(name)
    }

    /// The model runs these commands one after the other and says the last result. They are files:
    /// the permissions do not see what is in them.
    fn script(&self, commands: &[&str]) {
        let calls: String = (0..)
            .zip(commands)
            .map(|(done, command)| {
                let file = format!("step{done}.sh");
                self.home.write(&file, command);
                let call = json!({ "command": format!("sh {file}") });
                format!("when user is \"go\" and results {done}\n  call Bash {call}\n")
            })
            .collect();
        self.home.write("a.script", &format!("{calls}when any\n  say \"${{result}}\"\n"));
    }

    /// Runs until the first question; returns what was asked.
    fn park(&self) -> String {
        let flags = ["--conversation", "c", "--allowedTools", "Bash"];
        let ran = self.home.run_prompt("go", &flags);
        assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
        ran.err
    }
}

/// A text without the ends of its lines, which depend on what is in them.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write(path: &Path) -> String {
    // Spelled so that the permissions, which read the script too, do not see the path.
    let hidden = path.to_str().unwrap().replace('/', "/@");
    format!("P=$(echo '{hidden}' | tr -d @); echo made > \"$P\"")
}

// spec: SANDBOX-09
#[test]
fn a_parked_command_runs_again_with_exactly_the_path_that_was_shown() {
    let place = Place::new();
    std::fs::create_dir(place.outside("a")).unwrap();
    std::fs::create_dir(place.outside("b")).unwrap();
    let (first, other) = (place.outside("a/made"), place.outside("b/made"));
    // The second attempt tries to write somewhere else as well.
    let command = format!("{}; {}", write(&first), write(&other));
    place.script(&[&command]);
    let asked = place.park();
    // A file that does not exist needs its folder; the one that failed last is asked first.
    let folder = other.parent().unwrap().display().to_string();
    let question =
        format!("The sandbox kept Bash from writing to {folder}. Run it again with that?");
    assert!(asked.contains(&question), "{asked}");
    assert!(!first.exists() && !other.exists());
    let explained = in_one_line(&place.home.run(&["explain", "c"]).out);
    assert!(explained.contains(&format!("kept it from writing to {folder}")), "{explained}");
    let ran = place.home.run(&["approve", "c", "--script", "a.script"]);
    assert!(other.exists() && !first.exists(), "{} {}", ran.out, ran.err);
}

#[test]
fn an_approval_adds_the_path_once_and_a_rule_for_the_conversation() {
    let place = Place::new();
    let made = place.outside("made");
    place.script(&[&write(&made), &write(&place.outside("more"))]);
    place.park();
    let ran = place.home.run(&["approve", "c", "--script", "a.script"]);
    assert_eq!(ran.code, 3, "the second command is asked about: {} {}", ran.out, ran.err);
    assert!(made.exists() && !place.outside("more").exists());
    let rule =
        format!("Sandbox(write:{})", place.outside("").display().to_string().trim_end_matches('/'));
    let ran = place.home.run(&["approve", "c", "--rule", "--script", "a.script"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains(&rule), "{}", ran.err);
    assert!(place.outside("more").exists());
    // The rule holds for the next run of the conversation, and for no other conversation.
    place.script(&[&write(&place.outside("third"))]);
    let flags = ["--conversation", "c", "--allowedTools", "Bash"];
    let ran = place.home.run_prompt("go", &flags);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(place.outside("third").exists());
    place.script(&[&write(&place.outside("fourth"))]);
    let ran = place.home.run_prompt("go", &["--allowedTools", "Bash"]);
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    assert!(!place.outside("fourth").exists());
}

#[test]
fn a_denied_addition_leaves_the_result_of_the_run() {
    let place = Place::new();
    place.script(&[&write(&place.outside("made"))]);
    place.park();
    let ran = place.home.run(&["answer", "c", "1", "deny", "not there", "--script", "a.script"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("Read-only file system"), "{}", ran.out);
    assert!(ran.out.contains("not run again") && ran.out.contains("not there"), "{}", ran.out);
    assert!(!place.outside("made").exists());
}

#[test]
fn a_command_cannot_ask_for_protected_places_or_all_of_the_machine() {
    for lie in [
        "/",
        "/dev/sda",
        "/proc/1/mem",
        "$PWD/.git/hooks/x",
        "$PWD/.claude/settings.json",
        "$HOME/.ssh/authorized_keys",
        "$WORK/../x",
        "not/a/\tpath",
    ] {
        let place = Place::new();
        std::fs::create_dir_all(place.home.path(".git/hooks")).unwrap();
        let lie_hidden = lie.replace('/', "/@");
        let said = format!("echo \"sh: {lie_hidden}: Read-only file system\" | tr -d @; exit 1");
        place.script(&[&said]);
        let flags = ["--conversation", "c", "--allowedTools", "Bash"];
        let ran = place.home.run_prompt("go", &flags);
        assert_eq!(ran.code, 0, "{lie}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn a_place_that_became_a_link_is_not_added() {
    let place = Place::new();
    let (shown, other) = (place.outside("shown"), place.outside("other"));
    std::fs::create_dir(&shown).unwrap();
    std::fs::create_dir(&other).unwrap();
    place.script(&[&write(&shown.join("made"))]);
    place.park();
    std::fs::remove_dir(&shown).unwrap();
    std::os::unix::fs::symlink(&other, &shown).unwrap();
    let ran = place.home.run(&["approve", "c", "--script", "a.script"]);
    assert!(!other.join("made").exists());
    assert!(ran.out.contains("is not the place it was"), "{} {}", ran.out, ran.err);
}

// spec: SANDBOX-09
#[test]
fn at_the_terminal_the_addition_is_shown_and_asked() {
    let place = Place::new();
    let made = place.outside("made");
    place.script(&[&write(&made)]);
    let args = ["-p", "go", "--allowedTools", "Bash", "--when-asked", "prompt"];
    let mut seat = TerminalSession::start(&place.home, &args);
    // Lines are wrapped where the terminal ends; the last one means that all are there.
    seat.wait_for_text("[n] deny");
    assert!(!made.exists());
    seat.type_in("y\n");
    let (status, output) = seat.end();
    assert_eq!(status.code(), Some(0), "{output}");
    assert!(made.exists());
}
