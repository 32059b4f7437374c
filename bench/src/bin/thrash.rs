//! False alarms and misses of loop detection on recorded traces of legitimate and stuck work

use std::path::PathBuf;

use windlass_bench::loop_traces::{read_traces, run_detector};

/// Rounds within which a stuck run must be stopped.
const MAX_ROUNDS_UNTIL_STOP: usize = 12;

fn main() -> anyhow::Result<()> {
    let traces = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("traces");
    let (mut alarms, mut missed) = (0, 0);
    let legitimate = read_traces(&traces.join("legitimate"))?;
    for trace in &legitimate {
        let watched = run_detector(trace);
        alarms += usize::from(watched.human_at.is_some());
        println!(
            "legitimate  {:<36} {:>2} detections, {:?}",
            trace.name, watched.detections, watched.level
        );
    }
    let stuck = read_traces(&traces.join("stuck"))?;
    for trace in &stuck {
        let watched = run_detector(trace);
        missed += usize::from(watched.human_at.is_none_or(|round| round > MAX_ROUNDS_UNTIL_STOP));
        println!("stuck       {:<36} stopped in round {:?}", trace.name, watched.human_at);
    }
    println!(
        "thrash: {} legitimate traces, {alarms} forced humans; {} stuck traces, {missed} not stopped within {MAX_ROUNDS_UNTIL_STOP} rounds",
        legitimate.len(),
        stuck.len()
    );
    anyhow::ensure!(alarms == 0 && missed == 0, "the detector is wrong about some traces");
    Ok(())
}
