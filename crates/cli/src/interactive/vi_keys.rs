//! vi keys in the composer: a normal mode with motions and the operators d, c and y. Pure.

use super::composer::Composer;
use super::key_decoder::Key;

/// The state of vi keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ViState {
    /// Whether keys are commands.
    pub(super) is_normal: bool,
    /// An operator, or `g`, that waits for its motion.
    pending: Option<char>,
    /// The number before a command.
    count: usize,
}

/// Maximum number before a command.
const MAX_COUNT: usize = 999;

impl ViState {
    /// What the status line says of the mode.
    pub(super) fn label(&self) -> &'static str {
        if self.is_normal { "NORMAL" } else { "INSERT" }
    }
}

impl Composer {
    /// Gives a key to the normal mode; returns whether it was for it.
    pub(super) fn on_vi_key(&mut self, key: &Key) -> bool {
        let Some(mut vi) = self.vi.take() else { return false };
        let used = match (vi.is_normal, key) {
            (false, Key::Escape) => {
                vi.is_normal = true;
                self.move_left_in_line();
                true
            }
            (true, Key::Char(c)) => {
                self.on_normal_key(&mut vi, *c);
                true
            }
            (true, Key::Backspace) => {
                self.move_left_in_line();
                true
            }
            (true, Key::Ctrl('r')) => {
                self.begin_search();
                true
            }
            _ => false,
        };
        if !matches!(key, Key::Char(_)) {
            (vi.pending, vi.count) = (None, 0);
        }
        self.vi = Some(vi);
        used
    }

    fn on_normal_key(&mut self, vi: &mut ViState, c: char) {
        if let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || vi.count > 0) {
            vi.count = (vi.count * 10 + usize::try_from(digit).unwrap_or(0)).min(MAX_COUNT);
            return;
        }
        let count = std::mem::take(&mut vi.count).max(1);
        match (vi.pending.take(), c) {
            (Some('g'), 'g') => self.buffer.move_to_start(),
            (Some('g'), _) => {}
            (Some(operator), motion) => self.operate(vi, operator, (motion, count)),
            (None, 'd' | 'c' | 'y' | 'g') => {
                (vi.pending, vi.count) = (Some(c), if count > 1 { count } else { 0 });
            }
            (None, c) => self.on_command(vi, c, count),
        }
    }

    fn on_command(&mut self, vi: &mut ViState, c: char, count: usize) {
        match c {
            'i' => vi.is_normal = false,
            'I' => {
                self.buffer.move_to_line_start();
                vi.is_normal = false;
            }
            'a' => {
                self.move_right_in_line();
                vi.is_normal = false;
            }
            'A' => {
                self.buffer.move_to_line_end();
                vi.is_normal = false;
            }
            'o' => {
                self.buffer.move_to_line_end();
                self.buffer.insert("\n");
                vi.is_normal = false;
            }
            'O' => {
                self.buffer.move_to_line_start();
                self.buffer.insert("\n");
                self.buffer.left();
                vi.is_normal = false;
            }
            'x' => (0..count).for_each(|_| self.buffer.delete_in_line()),
            's' => {
                self.buffer.delete_in_line();
                vi.is_normal = false;
            }
            'D' => self.buffer.kill_rest_of_line(),
            'C' => {
                self.buffer.kill_rest_of_line();
                vi.is_normal = false;
            }
            'S' => self.operate(vi, 'c', ('c', 1)),
            'p' | 'P' => self.buffer.yank(),
            'u' => self.buffer.undo(),
            '/' => self.begin_search(),
            motion => (0..count).for_each(|_| self.move_by(motion)),
        }
    }

    /// Moves the cursor by a motion.
    fn move_by(&mut self, motion: char) {
        match motion {
            'h' => self.move_left_in_line(),
            'l' | ' ' => self.move_right_in_line(),
            'j' if !self.buffer.down() => self.recall_newer(),
            'k' if !self.buffer.up() => self.recall_older(),
            'w' => self.buffer.next_word_start(),
            'b' => self.buffer.word_left(),
            'e' => self.buffer.word_right(),
            '0' | '^' => self.buffer.move_to_line_start(),
            '$' => self.buffer.move_to_line_end(),
            'G' => self.buffer.move_to_end(),
            _ => {}
        }
    }

    /// Deletes, changes or copies what a motion covers; the operator itself means the line.
    fn operate(&mut self, vi: &mut ViState, operator: char, (motion, count): (char, usize)) {
        if motion == operator {
            self.buffer.move_to_line_start();
            match operator {
                'd' => (0..count).for_each(|_| self.buffer.kill_line()),
                'c' => self.buffer.kill_rest_of_line(),
                _ => self.buffer.copy_line(),
            }
        } else {
            let from = self.buffer.before().len();
            // `cw` changes to the end of the word, as in vi.
            let motion = if (operator, motion) == ('c', 'w') { 'e' } else { motion };
            if !matches!(motion, 'h' | 'l' | 'w' | 'b' | 'e' | '0' | '^' | '$') {
                return;
            }
            (0..count).for_each(|_| self.move_by(motion));
            self.buffer.kill_from(from, operator != 'y');
        }
        vi.is_normal = operator != 'c';
    }

    fn move_left_in_line(&mut self) {
        if !self.buffer.before().is_empty() && !self.buffer.before().ends_with('\n') {
            self.buffer.left();
        }
    }

    fn move_right_in_line(&mut self) {
        if !self.buffer.after().is_empty() && !self.buffer.after().starts_with('\n') {
            self.buffer.right();
        }
    }
}

#[cfg(test)]
#[path = "vi_keys_tests.rs"]
mod vi_keys_tests;
