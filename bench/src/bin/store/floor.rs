//! What the disk itself takes for the smallest durable write.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::Result;

use crate::clock;
use crate::spread::Spread;

const TIMES: u64 = 400;

pub(crate) fn measure(folder: &Path) -> Result<Spread> {
    let page = [7_u8; 4096];
    let file = File::create(folder.join("floor"))?;
    (0..TIMES).try_for_each(|no| file.write_all_at(&page, no * 4096))?;
    file.sync_all()?;
    let mut times = Vec::new();
    for no in 0..TIMES {
        let begin = clock::now();
        file.write_all_at(&page, no * 4096)?;
        file.sync_data()?;
        times.push(begin.elapsed());
    }
    Ok(Spread::of(times))
}
