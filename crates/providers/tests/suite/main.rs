//! Every adapter, on recorded streams and over real sockets. All of it offline: whatever answers
//! is a listener of the test itself.

#[cfg(test)]
mod adapter;
#[cfg(test)]
mod append_only;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod byte_server;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod encrypted;
#[cfg(test)]
mod event_message;
#[cfg(test)]
mod format_scenarios;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod linear;
mod malformed;
#[cfg(test)]
mod parser_only;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod recording_stream;
#[cfg(test)]
mod reply_events;
#[cfg(test)]
mod rich;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod test_lane;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod waiting;
