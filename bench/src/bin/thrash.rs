//! False alarms of the circle detector, on traces of legitimate and of stuck work.

use std::path::PathBuf;

use windlass_bench::trace::{folder, watch};

/// Rounds within which a stuck run must be stopped.
const STOPPED_WITHIN: usize = 12;

fn main() -> anyhow::Result<()> {
    let traces = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("traces");
    let (mut alarms, mut missed) = (0, 0);
    let legitimate = folder(&traces.join("legitimate"))?;
    for trace in &legitimate {
        let watched = watch(trace);
        alarms += usize::from(watched.human_at.is_some());
        println!(
            "legitimate  {:<36} {:>2} detections, {:?}",
            trace.name, watched.detections, watched.level
        );
    }
    let stuck = folder(&traces.join("stuck"))?;
    for trace in &stuck {
        let watched = watch(trace);
        missed += usize::from(watched.human_at.is_none_or(|round| round > STOPPED_WITHIN));
        println!("stuck       {:<36} stopped in round {:?}", trace.name, watched.human_at);
    }
    println!(
        "thrash: {} legitimate traces, {alarms} forced humans; {} stuck traces, {missed} not stopped within {STOPPED_WITHIN} rounds",
        legitimate.len(),
        stuck.len()
    );
    anyhow::ensure!(alarms == 0 && missed == 0, "the detector is wrong about some traces");
    Ok(())
}
