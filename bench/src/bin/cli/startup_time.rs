//! Time from the start of the process to its first request, and its memory at that point.

use std::path::Path;

use anyhow::Result;
use tempfile::TempDir;
use windlass_bench::time_stats;

use crate::measured_process;
use crate::scripted_server::ScriptedServer;

const REPEATS: usize = 40;

pub(crate) fn report(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    let mut server = ScriptedServer::start(binary, place.path(), "when any\n  say \"hi\"\n")?;
    let (mut waits, mut cpus, mut peaks) = (Vec::new(), 0.0, Vec::new());
    for _ in 0..REPEATS {
        let started = time_stats::current_time();
        let child = measured_process::start_process(binary, place.path(), server.address(), &[])?;
        waits.push(server.next_request()?.duration_since(started).as_secs_f64() * 1e3);
        let ran = child.finish()?;
        cpus += ran.cpu_ms;
        peaks.push(ran.peak_kb as f64 / 1024.0);
    }
    println!(
        "start to first request: {:.1} ms at least, {:.1} ms in the middle of {REPEATS}; {:.1} ms \
         CPU for the whole process",
        time_stats::minimum(&waits),
        time_stats::median(waits),
        cpus / REPEATS as f64
    );
    println!("peak memory of one answer: {:.1} MiB", time_stats::median(peaks));
    Ok(())
}
