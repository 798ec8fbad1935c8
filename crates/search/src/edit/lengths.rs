//! Numbers in an input that say how long something behind them is.
//!
//! Nobody tells which numbers these are. A number is taken for a length if what it then speaks of contains the place that is
//! asked about; whether it really is one a run shows.

/// A number in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Length {
    at: usize,
    form: Form,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Form {
    /// In digits, so many.
    Decimal(usize),
    /// In so many bytes.
    Little(usize),
    Big(usize),
}

/// Bytes between a number and what it speaks of.
const MOST_BETWEEN: usize = 4;
/// So far before a place lengths are looked for.
const FARTHEST: usize = 4096;
/// Candidates for one place.
const MOST: usize = 4;

impl Form {
    fn size(self) -> usize {
        match self {
            Form::Decimal(size) | Form::Little(size) | Form::Big(size) => size,
        }
    }
}

/// The numbers before a place that may speak of it, the likeliest first.
pub fn before(bytes: &[u8], place: usize) -> Vec<Length> {
    let mut found: Vec<(bool, usize, Length)> = Vec::new();
    let mut consider = |length: Length| {
        let end = length.at + length.form.size();
        let Some(value) = length.value(bytes).and_then(|it| usize::try_from(it).ok()) else {
            return;
        };
        if value == 0 || value > bytes.len() {
            return;
        }
        for between in 0..=MOST_BETWEEN {
            let begin = end + between;
            let is_inside = begin <= place && place <= begin + value;
            if is_inside {
                // What reaches just to the end of the input, or is written out, is hardly there by chance.
                let is_likely = begin + value == bytes.len()
                    || end + value == bytes.len()
                    || matches!(length.form, Form::Decimal(_));
                found.push((!is_likely, place - end, length));
                return;
            }
        }
    };
    let mut at = place.saturating_sub(FARTHEST);
    while at < place {
        let digits = bytes[at..place.min(bytes.len())]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits > 0 {
            if digits <= 9 {
                let form = Form::Decimal(digits);
                consider(Length { at, form });
            }
            at += digits;
            continue;
        }
        for form in [
            Form::Little(1),
            Form::Little(2),
            Form::Big(2),
            Form::Little(4),
            Form::Big(4),
        ] {
            if at + form.size() <= place {
                consider(Length { at, form });
            }
        }
        at += 1;
    }
    found.sort_by_key(|(unlikely, distance, length)| (*unlikely, *distance, *length));
    let lengths = found.into_iter().map(|(.., length)| length);
    lengths.take(MOST).collect()
}

/// The number at a place, and where it ends: digits around it, else the byte before it.
pub fn number_at(bytes: &[u8], place: usize) -> Option<(Length, usize)> {
    let is_digit = |at: &usize| bytes.get(*at).is_some_and(u8::is_ascii_digit);
    // What is looked at of a number that is written out includes what ends it.
    let within = match place.checked_sub(1) {
        Some(before) if !is_digit(&place) => before,
        _ => place,
    };
    if is_digit(&within) {
        let begin = (0..=within).rev().take_while(is_digit).last()?;
        let end = (within..bytes.len()).take_while(is_digit).last()? + 1;
        let form = Form::Decimal(end - begin);
        return Some((Length { at: begin, form }, end));
    }
    let form = Form::Little(1);
    let at = place;
    let value = usize::from(*bytes.get(at)?);
    (value > 0 && at + value < bytes.len()).then_some((Length { at, form }, at + 1))
}

impl Length {
    fn value(self, bytes: &[u8]) -> Option<u64> {
        let bytes = bytes.get(self.at..self.at + self.form.size())?;
        let join = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(match self.form {
            Form::Decimal(_) => std::str::from_utf8(bytes).ok()?.parse().ok()?,
            Form::Little(_) => bytes.iter().rev().fold(0, join),
            Form::Big(_) => bytes.iter().fold(0, join),
        })
    }

    /// Changes the number; `None` if there is no room for the new one.
    pub fn add(self, bytes: &mut Vec<u8>, more: i64) -> Option<()> {
        let value = self.value(bytes)?.checked_add_signed(more)?;
        let size = self.form.size();
        let place = self.at..self.at + size;
        let new = match self.form {
            Form::Decimal(_) => value.to_string().into_bytes(),
            Form::Little(_) => value.to_le_bytes()[..size].to_vec(),
            Form::Big(_) => value.to_be_bytes()[8 - size..].to_vec(),
        };
        let fits = matches!(self.form, Form::Decimal(_)) || value >> (8 * size) == 0;
        fits.then(|| {
            bytes.splice(place, new);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_speaks_of_the_rest_of_the_input_comes_first() {
        let bytes = b"\x01\x00\x05abcde";
        let first = before(bytes, 5)[0];
        assert_eq!(first.value(bytes), Some(5));
        let mut longer = bytes.to_vec();
        first.add(&mut longer, 1).unwrap();
        assert_eq!(longer, b"\x01\x00\x06abcde");
    }

    #[test]
    fn numbers_that_end_before_the_place_do_not_count() {
        assert!(before(b"2:abcdefghijkl", 12).is_empty());
    }

    #[test]
    fn a_number_that_has_no_room_stays() {
        let bytes = [&[255u8][..], &[7; 255]].concat();
        let length = before(&bytes, 9)
            .into_iter()
            .find(|length| length.at == 0)
            .unwrap();
        assert_eq!(length.add(&mut bytes.clone(), 1), None);
    }
}
