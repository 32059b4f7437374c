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
mod conformance;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod encrypted;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod heard;
#[cfg(test)]
mod lane;
#[cfg(test)]
mod linear;
mod malformed;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod rich;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod server;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod slowly;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod waiting;
