//! Runs `scenarios/*.md`, `README.md` and every page of `docs/`: files are written, commands are
//! typed, and their output is compared with the page.
//!
//! In a `console` block a line that starts with `$ ` is typed into a shell; the lines after it are
//! its output on both streams. `…` matches any text within a line, and alone any lines. `[exit N]`
//! is the exit code, if it is not 0. A block that cannot run says why: `console not-run: needs a
//! key`. A block with a name after its language is a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A fenced block of a page.
struct PageBlock {
    /// The text after the fence.
    kind: String,
    text: String,
    line: usize,
}

fn parse_blocks(page: &str) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<PageBlock> = None;
    for (number, line) in (1..).zip(page.lines()) {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(kind)) => {
                open = Some(PageBlock { kind: kind.to_owned(), text: String::new(), line: number });
            }
            (None, None) => {}
        }
    }
    blocks
}

/// A command and its expected output.
struct ConsoleStep {
    command: String,
    expected: Vec<String>,
}

fn parse_steps(text: &str) -> Vec<ConsoleStep> {
    let mut steps: Vec<ConsoleStep> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => {
                steps.push(ConsoleStep { command: command.to_owned(), expected: Vec::new() });
            }
            (None, Some(step)) => step.expected.push(line.trim_end().to_owned()),
            (None, None) => {}
        }
    }
    steps
}

/// Returns whether lines are as expected.
fn output_matches(expected: &[String], found: &[&str]) -> bool {
    match (expected.split_first(), found.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first.trim() == "…" => (0..=found.len())
            .any(|skipped| found.get(skipped..).is_some_and(|found| output_matches(rest, found))),
        (Some((first, rest)), Some((line, others))) => {
            line_matches(first, line.trim_end()) && output_matches(rest, others)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn line_matches(expected: &str, found: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = parts.next().and_then(|first| found.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    last.map_or(rest.is_empty(), |last| last.is_empty() || found.ends_with(last))
}

/// The longest a command of a page may take: one that waits for what never comes ends with 124.
const STEP_SECONDS: &str = "120";

fn run_shell(folder: &Path, command: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    #[expect(clippy::disallowed_methods, reason = "a scenario is typed into a real shell")]
    let output = Command::new("timeout")
        .args(["--kill-after=1", STEP_SECONDS, "sh", "-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("WINDLASS_HOME", folder.join(".windlass"))
        .env("HOME", folder.join(".user"))
        .env_remove("ANTHROPIC_MODEL")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    if !output.status.success() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[exit {}]\n", output.status.code().unwrap_or(-1)));
    }
    text
}

/// Runs a page; the error says what is wrong with it.
fn run_page(page: &Path) -> Result<(), String> {
    let text = fs::read_to_string(page).unwrap();
    let folder = TempDir::new().unwrap();
    let mut commands = 0;
    for block in parse_blocks(&text) {
        if let Some((_, reason)) = block.kind.split_once(NOT_RUN) {
            let has_reason = !reason.trim().is_empty();
            assert!(has_reason, "{}, line {}: say why", page.display(), block.line);
            continue;
        }
        match block.kind.split_once(' ') {
            Some(("file" | "script" | "json" | "toml" | "markdown" | "sh", name)) => {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, &block.text).unwrap();
            }
            None if block.kind == "console" => {
                for step in parse_steps(&block.text) {
                    commands += 1;
                    let found = run_shell(folder.path(), &step.command);
                    let lines: Vec<&str> = found.lines().collect();
                    if !output_matches(&step.expected, &lines) {
                        let expected = step.expected.join("\n");
                        return Err(format!(
                            "{}, below line {}\n$ {}\n--- expected\n{expected}\n--- found\n{found}",
                            page.display(),
                            block.line,
                            step.command
                        ));
                    }
                }
            }
            None if ["sh", "bash", "shell"].contains(&&*block.kind) => {
                return Err(format!(
                    "{}, line {}: write a `console` block, which is run, or say why it is not: \
                     `{}{NOT_RUN} WHY`",
                    page.display(),
                    block.line,
                    block.kind
                ));
            }
            Some(_) | None => {}
        }
    }
    let is_scenario = page.parent().is_some_and(|folder| folder.ends_with("scenarios"));
    match commands {
        0 if is_scenario => Err(format!("{} runs nothing", page.display())),
        _ => Ok(()),
    }
}

/// Follows the language of a block that is not run, before the reason.
const NOT_RUN: &str = " not-run:";

fn scenario_pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of = |folder: &str| fs::read_dir(root.join(folder)).unwrap();
    let files = of("scenarios").chain(of("docs")).map(|file| file.unwrap().path());
    let mut pages: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ext| ext == "md")).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

#[test]
fn every_scenario_goes_as_its_page_says() {
    let pages = scenario_pages();
    assert!(pages.len() >= 10, "only {} scenarios", pages.len());
    let workers: Vec<_> =
        pages.into_iter().map(|page| std::thread::spawn(move || run_page(&page))).collect();
    let wrong: Vec<String> =
        workers.into_iter().filter_map(|worker| worker.join().unwrap().err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_reader_of_scenarios_is_not_fooled() {
    let of = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(output_matches(&of("a\n…\nb"), &["a", "x", "y", "b"]));
    assert!(output_matches(&of("took … ms"), &["took 12 ms"]));
    assert!(!output_matches(&of("took … ms"), &["took 12 s"]));
    assert!(!output_matches(&of("a"), &["a", "b"]));
    assert!(!output_matches(&of("a\nb"), &["a"]));
    assert!(!line_matches("ab", "abc"));
}
