//! Bit vectors of 1 to 128 bits held in a `u128`, unused high bits zero.

/// All bits of a value of `width` bits.
#[inline]
pub const fn mask(width: u32) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

/// The sign bit of a value of `width` bits.
#[inline]
pub const fn sign_bit(width: u32) -> u128 {
    1 << (width - 1)
}

/// The value as a signed number.
#[inline]
pub const fn signed(width: u32, value: u128) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

/// `length` bits of `value` from bit `low` on.
#[inline]
pub const fn slice(value: u128, low: u32, length: u32) -> u128 {
    if low >= 128 {
        0
    } else {
        (value >> low) & mask(length)
    }
}

/// `value << amount`, 0 for amounts that Rust does not shift by.
#[inline]
pub const fn shift_left(value: u128, amount: u32) -> u128 {
    if amount >= 128 { 0 } else { value << amount }
}

/// Widens with the sign from `from` to `to` bits.
#[inline]
pub const fn sign_extend(from: u32, to: u32, value: u128) -> u128 {
    signed(from, value) as u128 & mask(to)
}
