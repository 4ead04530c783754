//! The plugin by which nbdkit serves a simulated drive over the network block device protocol.
//!
//! nbdkit has the protocol, the sockets and the connections; [`flashgc_block::Drive`] is the drive.
//! Here is the step between the two: [`api`] is nbdkit's interface in C; [`guard`] works around a
//! fault of some of its versions, and no other code is unsafe;
//! [`job`] is the request of `flashgc serve`, in a file; [`served`] is the drive behind its lock;
//! [`status`] publishes the state of the drive.

mod api;
mod guard;
mod job;
mod served;
mod status;
