//! The scalar C types that generated code computes with.

/// An integer type, by its name in the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    U128,
    I128,
}

/// A floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    Single,
    Double,
    Extended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int(Int),
    Float(Float),
}

impl Int {
    pub const ALL: &[Int] = &[
        Int::Bool,
        Int::U8,
        Int::I8,
        Int::U16,
        Int::I16,
        Int::U32,
        Int::I32,
        Int::U64,
        Int::I64,
        Int::U128,
        Int::I128,
    ];

    /// What variables are made of most of the time; 128 bits and `_Bool` are rarer in C.
    pub const COMMON: &[Int] = &[
        Int::U8,
        Int::I8,
        Int::U16,
        Int::I16,
        Int::U32,
        Int::U32,
        Int::I32,
        Int::I32,
        Int::U64,
        Int::I64,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Int::Bool => "bool",
            Int::U8 => "u8",
            Int::I8 => "i8",
            Int::U16 => "u16",
            Int::I16 => "i16",
            Int::U32 => "u32",
            Int::I32 => "i32",
            Int::U64 => "u64",
            Int::I64 => "i64",
            Int::U128 => "u128",
            Int::I128 => "i128",
        }
    }

    /// Bits; a `_Bool` counts as a byte.
    pub fn width(self) -> usize {
        match self {
            Int::Bool | Int::U8 | Int::I8 => 8,
            Int::U16 | Int::I16 => 16,
            Int::U32 | Int::I32 => 32,
            Int::U64 | Int::I64 => 64,
            Int::U128 | Int::I128 => 128,
        }
    }

    pub fn signed(self) -> bool {
        matches!(self, Int::I8 | Int::I16 | Int::I32 | Int::I64 | Int::I128)
    }

    /// The type to compute in so that nothing overflows: unsigned, and at
    /// least as wide as `int`, because C promotes narrower operands to (signed) `int`.
    pub fn arithmetic(self) -> Int {
        match self.width() {
            8 | 16 | 32 => Int::U32,
            64 => Int::U64,
            _ => Int::U128,
        }
    }
}

impl Float {
    pub const ALL: &[Float] = &[Float::Single, Float::Double, Float::Extended];

    pub fn name(self) -> &'static str {
        match self {
            Float::Single => "float",
            Float::Double => "double",
            Float::Extended => "ldouble",
        }
    }

    /// Suffix of constants and of math functions.
    pub fn suffix(self) -> &'static str {
        match self {
            Float::Single => "f",
            Float::Double => "",
            Float::Extended => "l",
        }
    }
}

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Type::Int(int) => int.name(),
            Type::Float(float) => float.name(),
        }
    }

    pub fn parse(name: &str) -> Option<Type> {
        let ints = Int::ALL.iter().map(|int| Type::Int(*int));
        let floats = Float::ALL.iter().map(|float| Type::Float(*float));
        ints.chain(floats).find(|ty| ty.name() == name)
    }
}
