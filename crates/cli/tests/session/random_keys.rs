//! Random keys and pastes: no panic, and the terminal is left as it was. `SESSION_KEYS_SECONDS` says
//! for how long.

use std::time::{Duration, Instant};

use rustix::termios::LocalModes;

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

const TALK: &str = r#"
when user matches "*a*" and results 0
  call AskUserQuestion {"questions": [{"question": "Which?", "header": "H", "multiSelect": true, "options": [{"label": "A"}, {"label": "B"}]}]}

when user matches "*b*" and results 0
  call Write {"file_path": "a.txt", "content": "1\n2\n"}

when any
  pace 1ms
  say "Some **text** with `code`, and more of it, for a while. | a | b |"
"#;

/// Pieces of input: keys, sequences, pastes, broken and hostile bytes. Neither `!`, which runs
/// commands, nor Ctrl-Z, which stops the process.
const PIECES: [&[u8]; 44] = [
    b"a",
    b"b",
    b"Z",
    b" ",
    b"/",
    b"@",
    b"\\",
    b"~",
    b"\r",
    b"\r",
    b"\n",
    b"\t",
    b"\x7f",
    b"\x01",
    b"\x02",
    b"\x05",
    b"\x06",
    b"\x0b",
    b"\x0c",
    b"\x0e",
    b"\x0f",
    b"\x10",
    b"\x12",
    b"\x15",
    b"\x17",
    b"\x19",
    b"\x1f",
    b"\x1b",
    b"\x1b\x1b",
    b"\x1b[A",
    b"\x1b[B",
    b"\x1b[C",
    b"\x1b[D",
    b"\x1b[Z",
    b"\x1b[5~",
    b"\x1b[6~",
    b"\x1b\r",
    b"\x1b[200~one\ntwo\x1b[201~",
    b"\x1b[999;999;",
    b"\xff\xfe",
    "日本👍🏽é".as_bytes(),
    b"/vim\r",
    b"/rewind\r",
    b"\x07",
];

fn seconds() -> u64 {
    std::env::var("SESSION_KEYS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

// spec: TERMINAL-13
#[test]
#[expect(clippy::disallowed_methods, reason = "types for a given time")]
fn random_keys_do_no_harm() {
    let home = TestHome::new(TALK);
    let variables = [("EDITOR", "true"), ("VISUAL", "")];
    let mut screen = PtyScreen::start_sized(&home, &[], (80, 24), &variables);
    let before = screen.modes().local_modes;
    screen.wait_until_idle();
    let seed = std::env::var("SESSION_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut random: u64 = seed.unwrap_or(20_260_101);
    let mut next = |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % below
    };
    let begin = Instant::now();
    let big = [&b"\x1b[200~"[..], "many lines\n".repeat(20_000).as_bytes(), b"\x1b[201~"].concat();
    let mut typed = 0_u64;
    while begin.elapsed() < Duration::from_secs(seconds()) {
        match next(400) {
            0 => screen.write(&big),
            1 => {
                let columns = [20, 40, 80, 200][next(4)];
                screen.resize(columns, 5 + u16::try_from(next(40)).unwrap());
            }
            _ => screen.write(PIECES[next(PIECES.len())]),
        }
        typed += 1;
        if typed.is_multiple_of(20) {
            std::thread::sleep(Duration::from_millis(2));
            screen.screen();
        }
        assert!(!screen.has_ended(), "the session ended:\n{}", screen.everything());
    }
    println!("{typed} keys");
    assert!(!screen.everything().contains("panicked"), "{}", screen.everything());
    screen.signal_session(rustix::process::Signal::TERM);
    assert_eq!(screen.wait_for_exit().code(), Some(143), "{}", screen.screen());
    assert_eq!(screen.modes().local_modes, before);
    assert!(before.contains(LocalModes::ECHO));
}
