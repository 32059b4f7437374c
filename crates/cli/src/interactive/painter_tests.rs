use super::{LiveArea, Painter, ReflowSupport};
use crate::terminal::ColorSupport;

struct Screen {
    painter: Painter,
    terminal: vt100::Parser,
}

impl Screen {
    fn new(columns: u16, rows: u16) -> Self {
        let size = (usize::from(columns), usize::from(rows));
        let painter = Painter::new(ColorSupport::Enabled, ReflowSupport::Cuts, size);
        Self { painter, terminal: vt100::Parser::new(rows, columns, 1_000) }
    }

    fn show(&mut self, finished: &[&str], live: &[&str]) -> String {
        let finished: Vec<String> = finished.iter().map(|line| (*line).to_owned()).collect();
        let rows: Vec<String> = live.iter().map(|row| (*row).to_owned()).collect();
        let cursor = Some((rows.len() / 2, 2));
        let bytes = self.painter.paint(&finished, LiveArea { rows, cursor });
        self.terminal.process(bytes.as_bytes());
        self.terminal.screen().contents()
    }
}

#[test]
fn finished_lines_scroll_away_above_the_live_rows() {
    let mut screen = Screen::new(20, 5);
    assert_eq!(screen.show(&["one"], &["> a", "status"]), "one\n> a\nstatus");
    assert_eq!(screen.show(&["two"], &["> ab", "status"]), "one\ntwo\n> ab\nstatus");
    assert_eq!(
        screen.show(&["three", "four"], &["> ab", "status"]),
        "two\nthree\nfour\n> ab\nstatus"
    );
    assert_eq!(screen.show(&[], &["> ab"]), "two\nthree\nfour\n> ab");
    assert_eq!(screen.show(&["five"], &["> a", "> b", "> c"]), "four\nfive\n> a\n> b\n> c");
}

#[test]
fn only_changed_rows_are_written() {
    let mut screen = Screen::new(40, 10);
    screen.show(&[], &["unchanged", "> a", "status"]);
    let rows = vec!["unchanged".to_owned(), "> ab".to_owned(), "status".to_owned()];
    let bytes = screen.painter.paint(&[], LiveArea { rows: rows.clone(), cursor: Some((1, 4)) });
    assert!(bytes.contains("> ab") && !bytes.contains("status"), "{bytes:?}");
    assert_eq!(screen.painter.paint(&[], LiveArea { rows, cursor: Some((1, 4)) }), "");
}

#[test]
fn rows_that_fill_the_screen_lose_no_character() {
    let mut screen = Screen::new(10, 6);
    let full = "0123456789";
    screen.show(&[full], &[full, full]);
    assert_eq!(screen.show(&[], &[full, "9876543210"]), "0123456789\n0123456789\n9876543210");
    let shown = screen.show(&["a line that wraps"], &[full]);
    assert_eq!(shown, "0123456789\na line that wraps\n0123456789");
}

#[test]
fn a_narrower_screen_keeps_what_was_printed() {
    let mut screen = Screen::new(20, 8);
    screen.show(&["first", "second"], &["--------------------", "> a", "status"]);
    screen.terminal.screen_mut().set_size(8, 12);
    let bytes = screen.painter.resize(12, 8);
    screen.terminal.process(bytes.as_bytes());
    let shown = screen.show(&[], &["------------", "> a", "status"]);
    assert_eq!(shown, "first\nsecond\n------------\n> a\nstatus");
}

#[test]
fn more_rows_than_the_screen_has_show_their_end() {
    let mut screen = Screen::new(10, 3);
    assert_eq!(screen.show(&["old"], &["1", "2", "3", "4", "5"]), "3\n4\n5");
    assert_eq!(screen.show(&[], &["1"]), "1");
}
