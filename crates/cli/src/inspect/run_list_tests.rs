use std::path::Path;

use windlass::StopCause;
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::projection::RunDescription;
use windlass::core::stop::RunState;
use windlass::ports::RunInfo;

use super::{ListedRun, TableContext, format_table};
use crate::terminal::OutputStyle;

fn listed(id: &str, state: RunState, prompt: &str) -> ListedRun {
    let run = RunInfo {
        tenant: "default".into(),
        run: RunId::from(id),
        lane: LaneId::from("conversation:x"),
        state,
        cause: (state == RunState::Failed).then_some(StopCause::MaxToolRounds),
        text: None,
        at: UnixMillis(1_000),
        resume_available: false,
        cancel_requested: false,
        description: RunDescription {
            prompt: Some(prompt.into()),
            folder: Some("/people/ann/src/some/deep/folder/of/mine".into()),
            agent: Some("reviewer".into()),
            ..RunDescription::default()
        },
        usd_micros: Some(12_345),
    };
    ListedRun { run, driven: None, waits_for: None }
}

fn lines(runs: &[ListedRun], width: usize) -> Vec<String> {
    let (here, home) = (Path::new("/elsewhere"), Some(Path::new("/people/ann")));
    let around = TableContext { here, home, now: UnixMillis(121_000) };
    format_table(runs, &around, OutputStyle::with_width(width))
}

#[test]
fn the_table_fits_whatever_the_width() {
    let long = "fix the parser, ".repeat(20);
    let runs = [
        listed("01a1e347-4285-76ca-b563-349c7619e197", RunState::Failed, &long),
        listed("short", RunState::WaitingOnHuman, "line\twith \u{1b}[31mred"),
    ];
    for width in [20, 30, 40, 60, 80, 100, 160] {
        let lines = lines(&runs, width);
        assert_eq!(lines.len(), 3, "{width}: {lines:?}");
        for line in &lines {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert!(!line.contains('\u{1b}'), "{line:?}");
        }
        assert!(lines[1].starts_with("7619e197"), "{}", lines[1]);
    }
    let wide = lines(&runs, 160).join("\n");
    for expected in
        ["failed: max_iters", "needs answer", "2 min", "$0.0123", "reviewer", "…", "PROMPT"]
    {
        assert!(wide.contains(expected), "{expected}: {wide}");
    }
    let narrow = lines(&runs, 60).join("\n");
    assert!(narrow.contains("failed") && narrow.contains("fix the parser"), "{narrow}");
    assert!(!narrow.contains("AGENT"), "{narrow}");
}

#[test]
fn a_run_whose_process_is_gone_is_interrupted_whatever_its_row_says() {
    for (state, driven, expected) in [
        (RunState::Running, Some(true), "running"),
        (RunState::Running, Some(false), "interrupted"),
        (RunState::WaitingOnProvider, Some(true), "retrying"),
        (RunState::WaitingOnProvider, Some(false), "interrupted"),
        (RunState::TimedOut, None, "interrupted"),
        (RunState::Queued, None, "queued"),
        (RunState::Completed, None, "done"),
        (RunState::Cancelled, None, "cancelled"),
    ] {
        let run = ListedRun { driven, ..listed("r", state, "x") };
        assert_eq!(run.state_label().0, expected, "{state:?}");
    }
    let mut late = listed("r", RunState::TimedOut, "x");
    late.run.cause = Some(StopCause::HardTime);
    assert_eq!(late.state_label().0, "timed out");
}
