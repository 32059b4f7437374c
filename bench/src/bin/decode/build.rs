//! Building the next request: one round is new, the rest was sent already.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use windlass_core::block::{Block, ErrorFlag};
use windlass_core::raw::Raw;
use windlass_core::record::ToolChoice;
use windlass_core::request::Request;
use windlass_core::settings::{Model, Settings};
use windlass_core::transcript::Transcript;
use windlass_providers::names::{Credential, Dialect, Format};
use windlass_providers::{Endpoint, Options, Remote, Shared};
use windlass_runtime::SystemClock;

use crate::{COUNTING, FORMATS, clock};

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
            println!("{name:>10} {rounds:>7} {}", step(format, rounds)?);
        }
    }
    Ok(())
}

fn step(format: Format, rounds: usize) -> Result<String> {
    let model = remote(format)?;
    let mut base = request();
    for round in 0..rounds {
        push_round(&mut base.transcript, round)?;
    }
    let _ = model.body(&base);
    // As many different next rounds as steps, so that none is found ready.
    let next = |number: usize| -> Result<Request> {
        let mut next = base.clone();
        push_round(&mut next.transcript, rounds + number)?;
        Ok(next)
    };
    let requests = (0..STEPS.min(200_000 / rounds)).map(next).collect::<Result<Vec<_>>>()?;
    let before = COUNTING.stats().allocations;
    let start = clock::now();
    let mut pieces = 0;
    for request in &requests {
        pieces = std::hint::black_box(model.body(request)).len();
    }
    let steps = requests.len() as f64;
    let micros = start.elapsed().as_secs_f64() * 1e6 / steps;
    let allocations = (COUNTING.stats().allocations - before) as f64 / steps;
    let body = model.body(&base);
    let (bytes, copying) =
        (body.iter().map(|piece| piece.len()).sum::<usize>(), micros_of(|| body.concat()));
    let from_nothing = micros_of(|| remote(format).map(|fresh| fresh.body(&base)));
    let kb = bytes as f64 / 1e3;
    Ok(format!(
        "{kb:>10.1} {micros:>10.2} {pieces:>12} {allocations:>12.1} {copying:>14.1} {from_nothing:>12.1}"
    ))
}

fn micros_of<T>(mut work: impl FnMut() -> T) -> f64 {
    const TIMES: usize = 20;
    let start = clock::now();
    for _ in 0..TIMES {
        std::hint::black_box(work());
    }
    start.elapsed().as_secs_f64() * 1e6 / TIMES as f64
}

fn remote(format: Format) -> Result<Remote> {
    let endpoint = Endpoint {
        provider: Arc::from("bench"),
        format,
        base_url: "http://127.0.0.1:1".to_owned(),
        credential: Credential::Nothing,
        dialect: Dialect::default(),
        model: Arc::from("bench"),
    };
    let shared = Shared::new(Arc::new(SystemClock::start()));
    Remote::new(endpoint, shared, Options::default())
        .map_err(|failure| anyhow!("{}", failure.message))
}

fn request() -> Request {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text("Read the files.")]);
    let settings = Arc::new(Settings::new(Model::named("bench")));
    let (choice, digest) = (ToolChoice::Open, Arc::from(""));
    Request {
        ask: 1,
        settings,
        transcript,
        max_tokens: 1_000,
        choice,
        digest,
        task_left_tokens: None,
    }
}

fn push_round(transcript: &mut Transcript, number: usize) -> Result<()> {
    let id = format!("toolu_{number}");
    let input = Raw::parse(format!("{{\"file_path\":\"src/file_{number}.rs\"}}"))?;
    let reply = [Block::text("Reading the next one."), Block::tool_use(&id, "Read", &input)];
    let result =
        Block::tool_result(&id, &Raw::string(&"a line of it\n".repeat(68)), ErrorFlag::Fine);
    Ok(transcript.push_round(&reply, vec![result])?)
}
