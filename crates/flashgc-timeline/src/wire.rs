//! The wire format of protocol buffers, as far as a timeline needs it:
//! <https://protobuf.dev/programming-guides/encoding>.

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const BYTES: u64 = 2;

/// A message as bytes. Fields are added in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it has no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A field of a whole number.
    pub fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// A field of a whole number, where there is one.
    pub fn optional(&mut self, field: u64, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(field, value),
            None => self,
        }
    }

    /// A field of 64 bits.
    pub fn fixed(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | FIXED_64);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A field of text.
    pub fn text(&mut self, field: u64, value: &str) -> &mut Self {
        self.field_of_bytes(field, value.as_bytes())
    }

    /// A field that is a message.
    pub fn message(&mut self, field: u64, value: &Message) -> &mut Self {
        self.field_of_bytes(field, &value.0)
    }

    fn field_of_bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Seven bits to a byte, the lowest first; the highest bit marks that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn fields_are_those_of_the_specification() {
        let mut inner = Message::default();
        inner.number(1, 150);
        assert_eq!(inner.bytes(), [0x08, 0x96, 0x01]);
        let mut outer = Message::default();
        outer.text(2, "testing").message(3, &inner).optional(4, None).fixed(5, 1);
        let expected = [
            &[0x12, 0x07][..],
            b"testing",
            &[0x1a, 0x03, 0x08, 0x96, 0x01],
            &[0x29, 1, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(outer.bytes(), expected.concat());
    }
}
