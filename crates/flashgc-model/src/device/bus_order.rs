//! The order of transfers that wait for the bus of a channel, and how buses are simulated.

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

/// How the buses of a drive work, and what the simulation keeps of them.
#[derive(Clone, Copy, Debug)]
pub struct BusRules {
    /// The order of service.
    pub order: BusOrder,
    /// Whether the time that each unit waits for its bus is recorded.
    pub keeps_waits: bool,
    /// Whether transfers of an operation that follow one another may be one event.
    pub joins_transfers: bool,
}
