//! Cost of building the next request: one round is new, the rest was sent already.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use windlass_bench::time_stats;
use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::loaded_tools::LoadedTools;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_providers::catalog::provider_table::{Credential, Dialect, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, SharedServices};
use windlass_runtime::SystemClock;

use crate::{COUNTING_ALLOCATOR, FORMATS};

const ROUNDS: [usize; 3] = [10, 100, 1_000];
const STEPS: usize = 2_000;

pub(crate) fn report() -> Result<()> {
    println!(
        "{:>10} {:>7} {:>10} {:>10} {:>12} {:>12} {:>14} {:>12}",
        "format",
        "rounds",
        "body KB",
        "µs",
        "pieces",
        "allocations",
        "µs to copy it",
        "µs from nil"
    );
    for (name, format) in FORMATS {
        for rounds in ROUNDS {
            println!("{name:>10} {rounds:>7} {}", measure_step(format, rounds)?);
        }
    }
    Ok(())
}

fn measure_step(format: WireFormat, rounds: usize) -> Result<String> {
    let model = build_remote(format)?;
    let mut base = build_request();
    for round in 0..rounds {
        push_round(&mut base.transcript, round)?;
    }
    let _ = model.request_body(&base);
    // As many different next rounds as steps, so that none is in a cache already.
    let next = |number: usize| -> Result<ModelRequest> {
        let mut next = base.clone();
        push_round(&mut next.transcript, rounds + number)?;
        Ok(next)
    };
    let requests = (0..STEPS.min(200_000 / rounds)).map(next).collect::<Result<Vec<_>>>()?;
    let before = COUNTING_ALLOCATOR.stats().allocations;
    let start = time_stats::current_time();
    let mut pieces = 0;
    for request in &requests {
        pieces = std::hint::black_box(model.request_body(request)).len();
    }
    let steps = requests.len() as f64;
    let micros = start.elapsed().as_secs_f64() * 1e6 / steps;
    let allocations = (COUNTING_ALLOCATOR.stats().allocations - before) as f64 / steps;
    let body = model.request_body(&base);
    let (bytes, copying) =
        (body.iter().map(|piece| piece.len()).sum::<usize>(), measure_micros(|| body.concat()));
    let from_nothing =
        measure_micros(|| build_remote(format).map(|fresh| fresh.request_body(&base)));
    let kb = bytes as f64 / 1e3;
    Ok(format!(
        "{kb:>10.1} {micros:>10.2} {pieces:>12} {allocations:>12.1} {copying:>14.1} {from_nothing:>12.1}"
    ))
}

fn measure_micros<T>(mut work: impl FnMut() -> T) -> f64 {
    const TIMES: usize = 20;
    let start = time_stats::current_time();
    for _ in 0..TIMES {
        std::hint::black_box(work());
    }
    start.elapsed().as_secs_f64() * 1e6 / TIMES as f64
}

fn build_remote(format: WireFormat) -> Result<RemoteModel> {
    let endpoint = Endpoint {
        provider: Arc::from("bench"),
        format,
        base_url: "http://127.0.0.1:1".to_owned(),
        credential: Credential::None,
        dialect: Dialect::default(),
        model: Arc::from("bench"),
    };
    let shared = SharedServices::new(Arc::new(SystemClock::start()));
    RemoteModel::new(endpoint, shared, CallOptions::default())
        .map_err(|failure| anyhow!("{}", failure.message))
}

fn build_request() -> ModelRequest {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text("Read the files.")]);
    let settings = Arc::new(Settings::new(ModelSpec::with_defaults("bench")));
    let (choice, journal_digest) = (ToolChoice::Auto, Arc::from(""));
    ModelRequest {
        model_call: 1,
        settings,
        transcript,
        loaded_tools: LoadedTools::default(),
        max_tokens: 1_000,
        choice,
        journal_digest,
        task_remaining_tokens: None,
    }
}

fn push_round(transcript: &mut Transcript, number: usize) -> Result<()> {
    let id = format!("toolu_{number}");
    let input = RawJson::parse(format!("{{\"file_path\":\"src/file_{number}.rs\"}}"))?;
    let reply =
        [ContentBlock::text("Reading the next one."), ContentBlock::tool_use(&id, "Read", &input)];
    let result = ContentBlock::tool_result(
        &id,
        &RawJson::string(&"a line of it\n".repeat(68)),
        ErrorFlag::Success,
    );
    Ok(transcript.push_round(&reply, vec![result])?)
}
