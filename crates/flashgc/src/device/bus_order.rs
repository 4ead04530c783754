//! Which of the transfers that wait for the bus of a channel is next.

/// The order in which the bus of a channel serves what waits for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusOrder {
    /// What asked first.
    #[default]
    Arrival,
    /// Commands, each by arrival, and data only while no command waits.
    CommandsFirst,
}
