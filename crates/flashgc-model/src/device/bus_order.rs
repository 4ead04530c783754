//! The order of transfers that wait for the bus of a channel.

/// The order in which the bus of a channel serves waiting transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusOrder {
    /// First come, first served.
    #[default]
    Arrival,
    /// Commands, each by arrival, and data only while no command waits.
    CommandsFirst,
}
