//! Text for people at a terminal: colors, widths, escapes, numbers, times. Nothing here knows a run.

pub(crate) mod age;
#[cfg(feature = "server")]
pub(crate) mod browser;
mod escape;
pub(crate) mod number_format;
mod print;
pub(crate) mod style;
pub(crate) mod text;
pub(crate) mod time_format;

pub(crate) use escape::{escape_invisible, sanitize_output};
pub(crate) use print::{
    print_bytes, print_error, print_line, print_note, redirect_notes, take_output_error,
};
pub(crate) use style::{Color, ColorSupport, OutputStyle, terminal_width};
pub(crate) use text::{
    fit_columns, sanitize_line, sanitize_text, to_one_line, truncate, wrap_choices, wrap_words,
};
