//! Appends per second, latency, CPU and file growth of a store, beside the disk's own floor
//!
//! `--store sqlite|memory|postgres`, `--seconds N` per measurement, `--folder PATH` to measure another
//! disk. For PostgreSQL a server of its own is started there, and its CPU is counted too.

mod arguments;
mod clock;
mod floor;
mod growth;
mod load;
mod spread;
mod story;
mod subject;

use anyhow::Result;
use arguments::{Arguments, Engine};
use load::Load;
use subject::Subject;

/// Whose the lanes are.
const WORKER: &str = "bench";

const CONVERSATIONS: [usize; 4] = [1, 8, 32, 128];

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    println!("store: {}, cores: {}, load average: {}", arguments.engine, cores(), load_average());
    let floor = floor::measure(folder.path())?;
    println!("floor: 4 KiB overwrite + fdatasync  {floor}\n");
    println!("{}", load::HEADING);
    let subject = Subject::new(arguments.engine, folder.path())?;
    for durability in subject.durabilities() {
        for conversations in CONVERSATIONS {
            let load = Load { conversations, durability, seconds: arguments.seconds };
            println!("{}", runtime.block_on(subject.measure(&load, folder.path()))?);
        }
    }
    if arguments.engine == Engine::Sqlite {
        println!("\n{}", runtime.block_on(growth::measure(folder.path()))?);
    }
    println!("load average afterwards: {}", load_average());
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

/// Figures from a busy machine say little: whoever reads them should know.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
