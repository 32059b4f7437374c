//! Scenarios: what a lane does, told as it happens.

mod budgets;
mod calls;
mod durability;
mod early;
mod failures;
mod gate;
mod guards;
mod hooks;
mod hostile;
mod mail;
mod money;
mod order;
mod permission;
mod questions;
mod resume;
mod retries;
mod rows;
mod steering;
mod stop;
mod stopping;
mod times;
mod truncation;
mod wanted;
mod window;
mod window_kept;
mod window_ladder;
