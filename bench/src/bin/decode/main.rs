//! Decoders in MB/s, events/s and allocations per event; request building at 10, 100 and 1,000 rounds
//!
//! Decoding is fed pieces of the size a socket gives. `as sent` is the stream of
//! `anthropic` with its keys in the order of the service, which the fast path of the decoder reads; the
//! order of the other rows leaves every event to the JSON parser. Building a request is measured as it
//! happens: one round is new, everything before it was sent already.

mod request_build;
mod streams;

use std::sync::Arc;

use anyhow::{Result, anyhow};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use windlass_bench::discarding_stream::DiscardingStream;
use windlass_bench::time_stats::{self, load_average};
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{RecordedCall, replay_stream};

#[global_allocator]
pub(crate) static COUNTING_ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

pub(crate) const FORMATS: [(&str, WireFormat); 3] = [
    ("anthropic", WireFormat::AnthropicMessages),
    ("chat", WireFormat::OpenAiChat),
    ("responses", WireFormat::OpenAiResponses),
];

const PIECE_BYTES: usize = 4_096;
const REPEATS: usize = 60;

fn main() -> Result<()> {
    println!("load average: {}\n", load_average());
    println!(
        "{:>10} {:>10} {:>8} {:>8} {:>12} {:>18}",
        "format", "bytes", "events", "MB/s", "events/s", "allocations/event"
    );
    for (name, format) in FORMATS {
        println!("{name:>10} {}", measure_decoding(format, &streams::long_reply(format))?);
    }
    let fast = streams::anthropic_as_sent();
    println!("{:>10} {}", "as sent", measure_decoding(WireFormat::AnthropicMessages, &fast)?);
    println!();
    request_build::report()
}

fn measure_decoding(format: WireFormat, stream: &[u8]) -> Result<String> {
    let events = stream.windows(2).filter(|two| two == b"\n\n").count();
    let recorded =
        RecordedCall { model: Arc::from("bench"), model_call: 1, stop_strings: Vec::new() };
    let once = || {
        let pieces = stream.chunks(PIECE_BYTES);
        replay_stream(format, &recorded, pieces, &DiscardingStream)
            .map_err(|failure| anyhow!("{}", failure.message))
    };
    for _ in 0..REPEATS / 4 {
        once()?;
    }
    let before = COUNTING_ALLOCATOR.stats().allocations;
    let reply = once()?;
    let allocations = COUNTING_ALLOCATOR.stats().allocations - before;
    anyhow::ensure!(reply.blocks.len() > 2, "the reply is not what was streamed");
    let start = time_stats::current_time();
    for _ in 0..REPEATS {
        once()?;
    }
    let seconds = start.elapsed().as_secs_f64() / REPEATS as f64;
    let (mb, per_second) = (stream.len() as f64 / 1e6 / seconds, events as f64 / seconds);
    let each = allocations as f64 / events as f64;
    Ok(format!("{:>10} {events:>8} {mb:>8.0} {per_second:>12.0} {each:>18.2}", stream.len()))
}
