//! `--resume` without an id: lists the conversations before the session starts.

use std::os::fd::AsFd;

use anyhow::bail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use windlass::core::log::ids::LaneId;

use super::conversation_list;
use super::key_decoder::KeyDecoder;
use super::painter::{LiveArea, Painter, ReflowSupport};
use super::picker::{Picker, PickerChoice, PickerKey};
use super::session_loop::write_out;
use super::terminal_modes::SessionModes;
use crate::args::PrintArgs;
use crate::config::paths;
use crate::setup;
use crate::terminal::ColorSupport;

/// How long an escape character waits for the rest of a sequence, and how often the size of the
/// terminal is looked at.
const WAIT_NS: i64 = 50_000_000;

/// Lets the user choose a conversation; `None` if the list was closed.
pub(super) async fn choose(print: &PrintArgs) -> anyhow::Result<Option<LaneId>> {
    let args = &print.agent;
    let workspace = paths::resolve_folder(&args.permissions.workspace, "--workspace")?;
    let store = setup::open_existing_store(&args.store).await?;
    let items = conversation_list::list_conversations(store.as_ref(), &workspace).await?;
    if items.is_empty() {
        bail!("there is no conversation to resume yet");
    }
    let picker = Picker::new("Resume which conversation?", items);
    let chosen = tokio::task::spawn_blocking(move || run(picker)).await??;
    let Some(PickerChoice::Conversation(lane)) = chosen else { return Ok(None) };
    let foreign = conversation_list::foreign_folder(store.as_ref(), &lane, &workspace).await?;
    if let Some(folder) = foreign {
        let word = crate::messages::option_word("--resume", &lane);
        bail!("that conversation works in {folder}; open it there: cd {folder} && windlass {word}");
    }
    Ok(Some(lane))
}

/// Draws the list and reads keys until it is closed.
fn run(mut picker: Picker) -> anyhow::Result<Option<PickerChoice>> {
    let modes = SessionModes::enter()?;
    let mut size = super::terminal_size();
    let mut painter = Painter::new(ColorSupport::of_stdout(), ReflowSupport::Cuts, size);
    let mut decoder = KeyDecoder::default();
    let input = std::io::stdin();
    let chosen = 'keys: loop {
        let (rows, cursor) = picker.rows(size.0, size.1);
        write_out(&painter.paint(&[], LiveArea { rows, cursor: Some(cursor) }))?;
        let keys = match has_input(&input)? {
            true => {
                let mut buffer = [0; 4_096];
                match rustix::io::read(&input, &mut buffer) {
                    Ok(0) | Err(rustix::io::Errno::IO) => break None,
                    Ok(length) => decoder.push(buffer.get(..length).unwrap_or_default()),
                    Err(_) => Vec::new(),
                }
            }
            false => decoder.flush(),
        };
        let now = super::terminal_size();
        if now != size {
            size = now;
            write_out(&painter.resize(size.0, size.1))?;
        }
        for key in keys {
            match picker.on_key(&key) {
                PickerKey::Used | PickerKey::NotMine | PickerKey::Removed(_) => {}
                PickerKey::Closed => break 'keys None,
                PickerKey::Chosen(choice) => break 'keys Some(choice),
            }
        }
    };
    write_out(&painter.clear())?;
    drop(modes);
    Ok(chosen)
}

fn has_input(input: impl AsFd) -> anyhow::Result<bool> {
    let mut asked = [PollFd::new(&input, PollFlags::IN)];
    let wait = Timespec { tv_sec: 0, tv_nsec: WAIT_NS };
    match poll(&mut asked, Some(&wait)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
