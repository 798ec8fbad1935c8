//! Arithmetic on words of wires, least significant bit first.

use super::gates::{Bit, Gates, TooLarge};

pub(crate) type Word = Vec<Bit>;

impl Gates {
    pub fn constant(width: u32, value: u128) -> Word {
        (0..width)
            .map(|bit| Bit::constant(value >> bit & 1 != 0))
            .collect()
    }

    /// The value, if it is the same for all inputs.
    pub fn known_word(word: &[Bit]) -> Option<u128> {
        word.iter().rev().try_fold(0, |sum, bit| {
            bit.known().map(|value| sum << 1 | u128::from(value))
        })
    }

    pub fn invert(a: &[Bit]) -> Word {
        a.iter().map(|&bit| !bit).collect()
    }

    /// Sum with carry in; the second result is the carry out.
    pub fn add_carry(&mut self, a: &[Bit], b: &[Bit], carry: Bit) -> (Word, Bit) {
        let mut carry = carry;
        let mut sum = Word::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            sum.push(self.xor(half, carry));
            carry = self.majority(x, y, carry);
        }
        (sum, carry)
    }

    pub fn add(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        self.add_carry(a, b, Bit::FALSE).0
    }

    pub fn subtract(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        self.add_carry(a, &Gates::invert(b), Bit::TRUE).0
    }

    pub fn negate(&mut self, a: &[Bit]) -> Word {
        let zero = Gates::constant(a.len() as u32, 0);
        self.subtract(&zero, a)
    }

    pub fn negate_if(&mut self, c: Bit, a: &[Bit]) -> Word {
        let negated = self.negate(a);
        self.choose_word(c, &negated, a)
    }

    pub fn choose_word(&mut self, c: Bit, a: &[Bit], b: &[Bit]) -> Word {
        a.iter()
            .zip(b)
            .map(|(&x, &y)| self.choose(c, x, y))
            .collect()
    }

    pub fn equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let same: Word = a.iter().zip(b).map(|(&x, &y)| !self.xor(x, y)).collect();
        self.all(&same)
    }

    /// `a < b`, or `a <= b`.
    pub fn less(&mut self, a: &[Bit], b: &[Bit], or_equal: bool) -> Bit {
        let mut less = Bit::constant(or_equal);
        for (&x, &y) in a.iter().zip(b) {
            less = self.majority(!x, y, less);
        }
        less
    }

    /// As [`less`](Gates::less), signed: the sign bits count the other way round.
    pub fn less_signed(&mut self, a: &[Bit], b: &[Bit], or_equal: bool) -> Bit {
        let flip = |word: &[Bit]| {
            let mut word = word.to_vec();
            if let Some(sign) = word.last_mut() {
                *sign = !*sign;
            }
            word
        };
        self.less(&flip(a), &flip(b), or_equal)
    }

    /// Product, cut off at the operands' width.
    pub fn multiply(&mut self, a: &[Bit], b: &[Bit]) -> Result<Word, TooLarge> {
        let width = a.len() as u32;
        let zeros = |word: &[Bit]| word.iter().filter(|&&bit| bit == Bit::FALSE).count();
        let (a, b) = if zeros(a) > zeros(b) { (b, a) } else { (a, b) };
        if let Some(factor) = Gates::known_word(b) {
            // Rows are only needed for ones: if there are many, the opposite number has few.
            let opposite = factor.wrapping_neg() & parallax_expr::bits::mask(width);
            if opposite.count_ones() + 1 < factor.count_ones() {
                let product = self.multiply(a, &Gates::constant(width, opposite))?;
                return Ok(self.negate(&product));
            }
        }
        let mut sum = Gates::constant(width, 0);
        for (shift, &bit) in b.iter().enumerate() {
            if bit == Bit::FALSE {
                continue;
            }
            let row: Word = a[..a.len() - shift]
                .iter()
                .map(|&x| self.and(x, bit))
                .collect();
            let upper = self.add(&sum[shift..], &row);
            sum.truncate(shift);
            sum.extend(upper);
            self.check_size()?;
        }
        Ok(sum)
    }

    /// Quotient and remainder; by zero all ones and the dividend.
    pub fn divide(&mut self, a: &[Bit], b: &[Bit]) -> Result<(Word, Word), TooLarge> {
        if let (Some(divisor), Some(dividend)) = (Gates::known_word(b), Gates::known_word(a)) {
            let width = a.len() as u32;
            let all = parallax_expr::bits::mask(width);
            let quotient = dividend.checked_div(divisor).unwrap_or(all);
            let remainder = dividend.checked_rem(divisor).unwrap_or(dividend);
            return Ok((
                Gates::constant(width, quotient),
                Gates::constant(width, remainder),
            ));
        }
        match Gates::known_word(b) {
            Some(divisor) if divisor != 0 => self.divide_by_constant(a, b, divisor),
            _ => self.divide_long(a, b),
        }
    }

    /// The two numbers `q` and `r < k` with `a == q * k + r`, which exist and are unique: few
    /// adders where a division by steps would need a square of them.
    fn divide_by_constant(
        &mut self,
        a: &[Bit],
        b: &[Bit],
        divisor: u128,
    ) -> Result<(Word, Word), TooLarge> {
        let width = a.len() as u32;
        let seed = seed_value(a);
        let most = parallax_expr::bits::mask(width) / divisor;
        let quotient = self.fresh_word(width, seed / divisor, most);
        let remainder = self.fresh_word(width, seed % divisor, divisor - 1);
        // Wide enough that nothing is cut off.
        let product_width = (width + 128 - divisor.leading_zeros()) as usize;
        let product = {
            let mut wide = quotient.clone();
            wide.resize(product_width, Bit::FALSE);
            let mut sum = remainder.clone();
            sum.resize(product_width, Bit::FALSE);
            for (shift, &bit) in b.iter().enumerate() {
                if bit == Bit::TRUE {
                    let upper = self.add(&sum[shift..], &wide[..product_width - shift]);
                    sum.truncate(shift);
                    sum.extend(upper);
                    self.check_size()?;
                }
            }
            sum
        };
        for (position, &bit) in product.iter().enumerate() {
            let wanted = a.get(position).copied().unwrap_or(Bit::FALSE);
            self.clause(&[!bit, wanted]);
            self.clause(&[bit, !wanted]);
        }
        let small = self.less(&remainder, b, false);
        self.clause(&[small]);
        Ok((quotient, remainder))
    }

    /// A word of new variables; bits that `maximum` does not need are zero.
    fn fresh_word(&mut self, width: u32, seed: u128, maximum: u128) -> Word {
        let needed = 128 - maximum.leading_zeros();
        (0..width)
            .map(|bit| {
                if bit < needed {
                    self.fresh(seed >> bit & 1 != 0)
                } else {
                    Bit::FALSE
                }
            })
            .collect()
    }

    /// Division as on paper.
    fn divide_long(&mut self, a: &[Bit], b: &[Bit]) -> Result<(Word, Word), TooLarge> {
        let width = a.len();
        let mut divisor = b.to_vec();
        divisor.push(Bit::FALSE);
        let inverted = Gates::invert(&divisor);
        let mut rest = Gates::constant(width as u32, 0);
        let mut quotient = vec![Bit::FALSE; width];
        for step in (0..width).rev() {
            let mut shifted = vec![a[step]];
            shifted.extend_from_slice(&rest);
            let (difference, fits) = self.add_carry(&shifted, &inverted, Bit::TRUE);
            quotient[step] = fits;
            rest = self.choose_word(fits, &difference[..width], &shifted[..width]);
            self.check_size()?;
        }
        Ok((quotient, rest))
    }

    /// Quotient and remainder of signed numbers, truncating.
    pub fn divide_signed(&mut self, a: &[Bit], b: &[Bit]) -> Result<(Word, Word), TooLarge> {
        let (sign_a, sign_b) = (a[a.len() - 1], b[b.len() - 1]);
        let (size_a, size_b) = (self.negate_if(sign_a, a), self.negate_if(sign_b, b));
        let (quotient, remainder) = self.divide(&size_a, &size_b)?;
        let negative = self.xor(sign_a, sign_b);
        Ok((
            self.negate_if(negative, &quotient),
            self.negate_if(sign_a, &remainder),
        ))
    }

    /// `a` shifted by `amount`, `fill` coming in; to the left or to the right.
    pub fn shift(&mut self, a: &[Bit], amount: &[Bit], left: bool, fill: Bit) -> Word {
        let width = a.len();
        let mut result = a.to_vec();
        let mut beyond = Vec::new();
        for (stage, &bit) in amount.iter().enumerate() {
            let distance = if stage < 32 { 1usize << stage } else { width };
            if distance >= width {
                beyond.push(bit);
                continue;
            }
            let moved: Word = (0..width)
                .map(|at| {
                    let from = if left {
                        at.checked_sub(distance)
                    } else {
                        Some(at + distance).filter(|&from| from < width)
                    };
                    from.map_or(fill, |from| result[from])
                })
                .collect();
            result = self.choose_word(bit, &moved, &result);
        }
        // Amounts between the width and the next power of two have moved everything out already.
        let beyond = self.any(&beyond);
        let filled = vec![fill; width];
        self.choose_word(beyond, &filled, &result)
    }

    /// Number of ones, in as many bits as there are.
    pub fn count_ones(&mut self, a: &[Bit]) -> Word {
        let mut counts: Vec<Word> = a.iter().map(|&bit| vec![bit]).collect();
        while counts.len() > 1 {
            let mut next = Vec::with_capacity(counts.len().div_ceil(2));
            for pair in counts.chunks(2) {
                next.push(match pair {
                    [x, y] => {
                        let length = x.len().max(y.len());
                        let (mut x, mut y) = (x.clone(), y.clone());
                        x.resize(length, Bit::FALSE);
                        y.resize(length, Bit::FALSE);
                        let (mut sum, carry) = self.add_carry(&x, &y, Bit::FALSE);
                        sum.push(carry);
                        sum
                    }
                    _ => pair[0].clone(),
                });
            }
            counts = next;
        }
        let mut count = counts.pop().unwrap_or_default();
        count.resize(a.len(), Bit::FALSE);
        count
    }

    /// Zeros before the first one, from the least significant end.
    pub fn count_zeros(&mut self, a: &[Bit]) -> Word {
        let width = a.len() as u32;
        let mut count =
            Gates::constant(width, u128::from(width) & parallax_expr::bits::mask(width));
        for (position, &bit) in a.iter().enumerate().rev() {
            let here = Gates::constant(width, position as u128);
            count = self.choose_word(bit, &here, &count);
        }
        count
    }
}

/// The word's value on the seed.
pub(crate) fn seed_value(word: &[Bit]) -> u128 {
    word.iter()
        .rev()
        .fold(0, |sum, bit| sum << 1 | u128::from(bit.seed()))
}
