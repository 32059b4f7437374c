//! A-19, case 43: a folder of the workspace that is swapped for a link while commands use it.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::place::{Level, Place, User};
use crate::suite::Stop;

/// Swaps a folder and a link to outside at least so often while a command writes and reads through
/// it. Returns what was reached.
pub(crate) fn swap_links(user: User, swaps: usize) -> Option<String> {
    let place = Place::new(user);
    fs::create_dir(place.path("w/d")).unwrap();
    fs::write(place.path("w/d/id"), "harmless\n").unwrap();
    symlink(place.path("outside"), place.path("w/e")).unwrap();
    symlink(place.path("home/vault"), place.path("w/g")).unwrap();
    let (done, made) = (AtomicBool::new(false), AtomicUsize::new(0));
    let text = std::thread::scope(|scope| {
        scope.spawn(|| {
            let names = ["w/d", "w/e", "w/g"].map(|name| place.path(name));
            while !done.load(Ordering::Relaxed) {
                for pair in [[0, 1], [0, 2]] {
                    let [one, other] = pair.map(|at| &names[at]);
                    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap_or_default();
                    made.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let mut text = String::new();
        while made.load(Ordering::Relaxed) < swaps {
            let command = "for i in $(seq 300); do echo x > d/new; echo x > d/kept; cat d/id; done; rm -f d/new; true";
            let ran = place.run(command, Level::Full, Stop::Kernel);
            text.push_str(&String::from_utf8_lossy(&ran.stdout));
        }
        done.store(true, Ordering::Relaxed);
        text
    });
    let reached = place.find_success(&text)?;
    Some(format!("race ({user:?}), {} swaps: {reached}", made.load(Ordering::Relaxed)))
}
