//! From the start of the process to its first request, and what it holds meanwhile.

use std::path::Path;

use anyhow::Result;
use tempfile::TempDir;

use crate::server::Server;
use crate::{child, time};

const REPEATS: usize = 40;

pub(crate) fn report(binary: &Path) -> Result<()> {
    let place = TempDir::new()?;
    let mut server = Server::start(binary, place.path(), "when any\n  say \"hi\"\n")?;
    let (mut waits, mut cpus, mut peaks) = (Vec::new(), 0.0, Vec::new());
    for _ in 0..REPEATS {
        let started = time::now();
        let child = child::start(binary, place.path(), server.address(), &[])?;
        waits.push(server.next_request()?.duration_since(started).as_secs_f64() * 1e3);
        let ran = child.finish()?;
        cpus += ran.cpu_ms;
        peaks.push(ran.peak_kb as f64 / 1024.0);
    }
    println!(
        "start to first request: {:.1} ms at least, {:.1} ms in the middle of {REPEATS}; {:.1} ms \
         CPU for the whole process",
        time::least(&waits),
        time::median(waits),
        cpus / REPEATS as f64
    );
    println!("peak memory of one answer: {:.1} MiB", time::median(peaks));
    Ok(())
}
