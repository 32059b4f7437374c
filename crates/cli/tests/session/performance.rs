//! How fast the session is. The limits are strict where nothing else runs: `SESSION_P99_MS=16`, as the
//! check does; elsewhere they find only what hangs. `--nocapture` prints the figures.

use std::time::{Duration, Instant};

use crate::pty_screen::PtyScreen;
use crate::test_home::TestHome;

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    *times.get((times.len() - 1) * percent / 100).unwrap()
}

/// The limit for the 99th percentile, in milliseconds.
fn limit_ms() -> u64 {
    std::env::var("SESSION_P99_MS").ok().and_then(|limit| limit.parse().ok()).unwrap_or(1_000)
}

#[expect(clippy::disallowed_methods, reason = "the time is what is measured")]
fn measure_keys(screen: &mut PtyScreen, keys: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    for key in 0..keys {
        if key.is_multiple_of(50) {
            screen.type_in("\u{15}");
            screen.wait_until("an empty composer", |screen| screen.cursor_column() == 2);
        }
        let column = screen.cursor_column();
        let begin = Instant::now();
        screen.type_in("x");
        while screen.cursor_column() == column {
            assert!(begin.elapsed() < Duration::from_secs(10), "{}", screen.screen());
            std::thread::yield_now();
        }
        times.push(begin.elapsed());
        std::thread::sleep(Duration::from_millis(3));
    }
    times
}

#[test]
fn keystrokes_are_fast_while_text_streams() {
    let words = "word ".repeat(50_000);
    let script = format!("when user is \"go now\"\n  pace 1ms\n  say \"{words}\"\n");
    let home = TestHome::new(&script);
    let mut screen = PtyScreen::start_sized(&home, &[], (80, 40), &[]);
    screen.wait_until_idle();
    let mut idle = measure_keys(&mut screen, 300);
    screen.type_in("\u{15}go now\r");
    screen.wait_for("word word");
    let mut busy = measure_keys(&mut screen, 1_000);
    assert!(screen.screen().contains("Working"), "the stream ended too early");
    let (p50, p99) = (percentile(&mut busy, 50), percentile(&mut busy, 99));
    println!("idle:   p50 {:?} p99 {:?}", percentile(&mut idle, 50), percentile(&mut idle, 99));
    println!("stream: p50 {p50:?} p99 {p99:?}");
    assert!(p99 < Duration::from_millis(limit_ms()), "p99 is {p99:?}");
}

/// The processor time that a process has used, in ticks of 10 ms.
fn cpu_ticks(screen: &PtyScreen) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", screen.session_id())).unwrap();
    let fields = text.rsplit(") ").next().unwrap().split(' ');
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time is what is measured")]
fn an_idle_session_needs_little() {
    let home = TestHome::new("when any\n  call Bash {\"command\": \"sleep 60\"}\n");
    let mut screen = PtyScreen::start(&home, &["--allowedTools", "Bash"]);
    screen.wait_until_idle();
    let measured = |screen: &mut PtyScreen| {
        let before = cpu_ticks(screen);
        std::thread::sleep(Duration::from_secs(3));
        screen.screen();
        (cpu_ticks(screen) - before) as f64 / 3.0
    };
    let idle = measured(&mut screen);
    screen.type_in("go now\r");
    screen.wait_for("Bash sleep 60");
    let spinning = measured(&mut screen);
    println!("cpu: idle {idle} %, with the spinner {spinning} %");
    assert!(spinning < 20.0, "{spinning} %");
}
