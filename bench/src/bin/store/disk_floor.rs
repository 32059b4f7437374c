//! Time of the smallest durable write, as the lower bound of the disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::Result;
use windlass_bench::time_stats;

use crate::latency_spread::LatencySpread;

const TIMES: u64 = 400;

pub(crate) fn measure_disk_floor(folder: &Path) -> Result<LatencySpread> {
    let page = [7_u8; 4096];
    let file = File::create(folder.join("floor"))?;
    (0..TIMES).try_for_each(|no| file.write_all_at(&page, no * 4096))?;
    file.sync_all()?;
    let mut times = Vec::new();
    for no in 0..TIMES {
        let begin = time_stats::current_time();
        file.write_all_at(&page, no * 4096)?;
        file.sync_data()?;
        times.push(begin.elapsed());
    }
    Ok(LatencySpread::from_times(times))
}
