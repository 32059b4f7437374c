//! Appends per second, latency, CPU and file growth of a store, beside the disk's own floor
//!
//! `--store sqlite|memory`, `--seconds N` per measurement, `--folder PATH` to measure another disk.

mod arguments;
mod clock;
mod floor;
mod growth;
mod load;
mod spread;
mod story;

use std::sync::Arc;

use anyhow::Result;
use arguments::{Arguments, Engine};
use load::{Load, Syncs};
use windlass_core::record::Durability;
use windlass_runtime::ports::Store;
use windlass_store::{MemoryStore, SqliteStore};

const CONVERSATIONS: [usize; 4] = [1, 8, 32, 128];

fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    println!("store: {}, cores: {}, load average: {}", arguments.engine, cores(), load_average());
    let floor = floor::measure(folder.path())?;
    println!("floor: 4 KiB overwrite + fdatasync  {floor}\n");
    println!("{}", load::HEADING);
    for durability in [Durability::Commit, Durability::Barrier] {
        for conversations in CONVERSATIONS {
            let load = Load { conversations, durability, seconds: arguments.seconds };
            let place = folder.path().join(format!("{durability:?}-{conversations}.db"));
            let (store, syncs) = open(arguments.engine, &place)?;
            println!("{}", runtime.block_on(load.run(store, syncs.as_ref()))?);
        }
    }
    if arguments.engine == Engine::Sqlite {
        println!("\n{}", runtime.block_on(growth::measure(folder.path()))?);
    }
    println!("load average afterwards: {}", load_average());
    Ok(())
}

type Opened = (Arc<dyn Store>, Option<Syncs>);

fn open(engine: Engine, place: &std::path::Path) -> Result<Opened> {
    Ok(match engine {
        Engine::Memory => (Arc::new(MemoryStore::new()), None),
        Engine::Sqlite => {
            let store = Arc::new(SqliteStore::open(place)?);
            (Arc::clone(&store) as Arc<dyn Store>, Some(store))
        }
    })
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

/// Figures from a busy machine say little: whoever reads them should know.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
