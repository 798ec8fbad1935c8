//! Conversions between integers and floating point, and rounding to integral
//! values, in software: exact for every width, the same code for all three formats.

use crate::bits::{mask, sign_bit};
use parallax_abi::op::Rounding;

/// One of the three floating-point formats.
#[derive(Clone, Copy)]
struct Format {
    width: u32,
    /// Significant bits, the leading one included.
    precision: u32,
    exponent_bits: u32,
    /// Whether the leading bit is stored (80 bits only).
    explicit_leading_bit: bool,
}

impl Format {
    fn of(width: u32) -> Option<Format> {
        let (precision, exponent_bits, explicit_leading_bit) = match width {
            32 => (24, 8, false),
            64 => (53, 11, false),
            80 => (64, 15, true),
            _ => return None,
        };
        Some(Format {
            width,
            precision,
            exponent_bits,
            explicit_leading_bit,
        })
    }

    /// Width of the stored significand.
    fn stored(self) -> u32 {
        if self.explicit_leading_bit {
            self.precision
        } else {
            self.precision - 1
        }
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn top_exponent(self) -> u32 {
        (1 << self.exponent_bits) - 1
    }

    /// Exponent of the significand's last bit when the stored exponent is `stored`.
    fn unit_exponent(self, stored: u32) -> i32 {
        stored.max(1) as i32 - self.bias() - (self.precision as i32 - 1)
    }

    fn sign(self, negative: bool) -> u128 {
        if negative { sign_bit(self.width) } else { 0 }
    }
}

/// What a bit pattern means.
enum Number {
    Nan,
    Infinite,
    /// `significand * 2^exponent`.
    Finite {
        negative: bool,
        significand: u64,
        exponent: i32,
    },
}

fn decode(format: Format, bits: u128) -> Number {
    let fraction = (bits & mask(format.stored())) as u64;
    let stored = (bits >> format.stored()) as u32 & format.top_exponent();
    let negative = bits & sign_bit(format.width) != 0;
    let leading = 1u64 << (format.precision - 1);
    if format.explicit_leading_bit && stored != 0 && fraction & leading == 0 {
        // Unnormal numbers and pseudo-infinities: the processor refuses them as it does NaN.
        return Number::Nan;
    }
    if stored == format.top_exponent() {
        return if fraction & !leading == 0 {
            Number::Infinite
        } else {
            Number::Nan
        };
    }
    let implicit = if stored == 0 || format.explicit_leading_bit {
        0
    } else {
        leading
    };
    Number::Finite {
        negative,
        significand: fraction | implicit,
        exponent: format.unit_exponent(stored),
    }
}

/// The nearest representable number, ties to even.
fn encode(format: Format, negative: bool, magnitude: u128) -> u128 {
    let sign = format.sign(negative);
    if magnitude == 0 {
        return sign;
    }
    let length = 128 - magnitude.leading_zeros();
    let mut exponent = length as i32 - 1;
    let mut significand = if length <= format.precision {
        magnitude << (format.precision - length)
    } else {
        let dropped = length - format.precision;
        let kept = magnitude >> dropped;
        let rest = magnitude & mask(dropped);
        let half = 1u128 << (dropped - 1);
        kept + u128::from(rest > half || (rest == half && kept & 1 == 1))
    };
    if significand >> format.precision != 0 {
        significand >>= 1;
        exponent += 1;
    }
    let stored = (exponent + format.bias()) as u32;
    if stored >= format.top_exponent() {
        // Only 128-bit integers near the top converted to `float` get here.
        significand = 1 << (format.precision - 1);
    }
    let stored = stored.min(format.top_exponent());
    sign | u128::from(stored) << format.stored() | (significand & mask(format.stored()))
}

/// An integer as floating point of `to` bits.
pub(super) fn from_integer(to: u32, negative: bool, magnitude: u128) -> Option<u128> {
    Some(encode(Format::of(to)?, negative, magnitude))
}

/// Floating point truncated to an integer of `to` bits; `None` if it does not fit.
pub(super) fn to_integer(from: u32, to: u32, signed: bool, bits: u128) -> Option<u128> {
    let format = Format::of(from)?;
    let Number::Finite {
        negative,
        significand,
        exponent,
    } = decode(format, bits)
    else {
        return None;
    };
    let significand = u128::from(significand);
    let magnitude = if exponent < 0 {
        significand
            .checked_shr(exponent.unsigned_abs())
            .unwrap_or(0)
    } else {
        if significand != 0 && significand.leading_zeros() < exponent as u32 {
            return None;
        }
        significand.checked_shl(exponent as u32).unwrap_or(0)
    };
    let limit = match (signed, negative) {
        (true, true) => sign_bit(to),
        (true, false) => mask(to - 1),
        (false, true) => 0,
        (false, false) => mask(to),
    };
    if magnitude > limit {
        return None;
    }
    let value = if negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    Some(value & mask(to))
}

/// Rounded to an integral value; `mode` is a [`Rounding`] as a number.
pub(super) fn round(width: u32, mode: u32, bits: u128) -> Option<u128> {
    let format = Format::of(width)?;
    let quiet = 1u128 << (format.precision - 2);
    let Number::Finite {
        negative,
        significand,
        exponent,
    } = decode(format, bits)
    else {
        let leading = 1u128 << (format.precision - 1);
        return Some(if format.explicit_leading_bit && bits & leading == 0 {
            // The processor's answer to an encoding that it refuses.
            sign_bit(width) | u128::from(format.top_exponent()) << format.stored() | leading | quiet
        } else if bits & mask(format.precision - 1) == 0 {
            bits
        } else {
            bits | quiet
        });
    };
    if exponent >= 0 {
        return Some(bits);
    }
    let dropped = exponent.unsigned_abs();
    let significand = u128::from(significand);
    let whole = significand.checked_shr(dropped).unwrap_or(0);
    let rest = if dropped >= 128 {
        significand
    } else {
        significand & mask(dropped)
    };
    // Beyond 127 dropped bits a 64-bit significand is less than a half.
    let half = 1u128.checked_shl(dropped - 1).unwrap_or(u128::MAX);
    let up = match mode {
        mode if mode == Rounding::NearestEven as u32 => {
            rest > half || (rest == half && whole & 1 == 1)
        }
        mode if mode == Rounding::TowardZero as u32 => false,
        mode if mode == Rounding::Down as u32 => negative && rest != 0,
        mode if mode == Rounding::Up as u32 => !negative && rest != 0,
        mode if mode == Rounding::NearestAway as u32 => rest >= half,
        _ => return None,
    };
    Some(encode(format, negative, whole + u128::from(up)))
}
