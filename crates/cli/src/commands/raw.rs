//! `windlass raw`: prints the stored provider responses.

use std::path::Path;
use std::process::ExitCode;

use crate::args::inspect_args::RawArgs;
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup;
use crate::inspect::raw_responses::{self, ModelAttempt};
use crate::terminal::{self, Color, OutputStyle};
use crate::{messages, setup};

/// Responses read from the store per page.
const PAGE_ROWS: usize = 64;

pub(crate) async fn run(args: &RawArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.store).await?;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), Path::new(".")).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane.clone()).await?;
    let attempts = raw_responses::find_attempts(&history, found.run.as_ref());
    let is_wanted = |attempt: &ModelAttempt| args.iter.is_none_or(|iter| iter == attempt.iter);
    let style = OutputStyle::stdout();
    let (mut after, mut shown) = (0, 0_usize);
    loop {
        let page = store.read_raw_responses(found.lane.clone(), after, PAGE_ROWS).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for row in &page {
            let attempt = attempts.get(&row.seq).filter(|attempt| is_wanted(attempt));
            let Some(attempt) = attempt else { continue };
            shown += 1;
            if args.json {
                terminal::print_line(&attempt.to_json(row)?);
            } else {
                terminal::print_line(&style.paint(Color::Bold, &attempt.heading(row)));
                terminal::print_line(&raw_responses::response_text(row));
            }
        }
    }
    if shown == 0 {
        let iterations = attempts.values().map(|attempt| attempt.iter).max().unwrap_or(0);
        terminal::print_note(&match args.iter {
            _ if iterations == 0 => messages::action::no_responses_yet(&found.lane),
            Some(iter) if !attempts.values().any(is_wanted) => {
                messages::action::no_such_iteration(iter, iterations)
            }
            iter => messages::action::no_raw_responses(iter),
        });
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
