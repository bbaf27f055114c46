//! What a model of the pipeline needs to know of an instruction.

/// A set of registers: bits 0 to 15 are r0 to r15, bit 16 the condition flags, bit 17 the flags
/// in FPSCR, bits 32 to 63 are s0 to s31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(pub u64);

impl Registers {
    /// No register.
    pub const NONE: Self = Self(0);
    /// The condition flags.
    pub const FLAGS: Self = Self(1 << 16);
    /// The flags in FPSCR.
    pub const FP_FLAGS: Self = Self(1 << 17);

    /// Core register `number`, taken modulo 16.
    #[must_use]
    pub const fn core(number: u32) -> Self {
        Self(1 << (number & 15))
    }

    /// Core registers by a mask of 16 bits.
    #[must_use]
    pub const fn core_mask(mask: u32) -> Self {
        Self((mask & 0xffff) as u64)
    }

    /// `count` single-precision registers from `first` on; those past s31 are left out.
    #[must_use]
    pub fn single(first: u32, count: u32) -> Self {
        let bits = (first..first.saturating_add(count).min(32)).map(|n| 1u64 << (32 + n)).sum();
        Self(bits)
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without the registers of another.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many registers are in the set.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The registers' places in the set: 0 to 63.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let number = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(number)
        })
    }

    /// Whether the sets share a register.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// What an instruction is to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Moves, adds, logic, compares, shifts, extensions, bit fields.
    Alu,
    /// Saturating and parallel arithmetic: the DSP extension without its multiplications.
    Dsp,
    /// Multiplications, with or without accumulation.
    Multiply,
    /// 32-bit divisions.
    Divide,
    /// Load of a word or less.
    Load,
    /// Store of a word or less.
    Store,
    /// Loads of this many words at once (LDM, POP, LDRD, VLDM).
    LoadMany(u8),
    /// Stores of this many words at once (STM, PUSH, STRD, VSTM).
    StoreMany(u8),
    /// Branches with a target in the instruction.
    Branch,
    /// Branches to a register's value.
    BranchIndirect,
    /// TBB and TBH.
    BranchTable,
    /// IT.
    IfThen,
    /// NOP and hints that do nothing, PLD.
    Nop,
    /// WFI.
    WaitForInterrupt,
    /// WFE.
    WaitForEvent,
    /// SEV.
    SendEvent,
    /// SVC.
    SupervisorCall,
    /// BKPT.
    Breakpoint,
    /// CPS, MRS, MSR, CLREX.
    System,
    /// DMB, DSB, ISB.
    Barrier,
    /// Floating-point additions, conversions, compares, moves.
    FloatAdd,
    /// Floating-point multiplications.
    FloatMultiply,
    /// Floating-point fused or chained multiply-accumulates.
    FloatAccumulate,
    /// Floating-point divisions and square roots; true: double precision.
    FloatDivide(bool),
    /// Moves between core and floating-point registers.
    FloatMove,
    /// Load of one floating-point register of one or two words.
    FloatLoad(u8),
    /// Store of one floating-point register of one or two words.
    FloatStore(u8),
    /// UDF and everything that the architecture leaves undefined.
    Undefined,
}

impl Class {
    /// Whether the instruction needs the floating-point unit.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::FloatAdd
                | Self::FloatMultiply
                | Self::FloatAccumulate
                | Self::FloatDivide(_)
                | Self::FloatMove
                | Self::FloatLoad(_)
                | Self::FloatStore(_)
        )
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it is.
    pub class: Class,
    /// Bytes: 2 or 4.
    pub bytes: u8,
    /// Registers whose values are needed when it executes.
    pub reads: Registers,
    /// Registers whose values are needed to form an address; also in `reads`.
    pub addresses: Registers,
    /// Register that is added to: needed late by a multiply-accumulate; also in `reads`.
    pub accumulates: Registers,
    /// Registers that it writes.
    pub writes: Registers,
    /// Whether floating-point registers are touched even by a load or store of many.
    pub float: bool,
    /// Whether an operand passes the shifter before it is computed with: shifted or rotated, or
    /// extended and added.
    pub shifted: bool,
}

impl Instruction {
    /// An instruction of 16 bits.
    #[must_use]
    pub const fn narrow(class: Class, reads: Registers, writes: Registers) -> Self {
        Self {
            class,
            bytes: 2,
            reads,
            addresses: Registers::NONE,
            accumulates: Registers::NONE,
            writes,
            float: class.is_float(),
            shifted: false,
        }
    }

    /// An instruction of 32 bits.
    #[must_use]
    pub const fn wide(class: Class, reads: Registers, writes: Registers) -> Self {
        Self { bytes: 4, ..Self::narrow(class, reads, writes) }
    }

    /// The same with registers that form an address.
    #[must_use]
    pub const fn at(self, addresses: Registers) -> Self {
        Self { reads: self.reads.with(addresses), addresses, ..self }
    }

    /// The same with a register that is added to.
    #[must_use]
    pub const fn accumulating(self, register: Registers) -> Self {
        Self { reads: self.reads.with(register), accumulates: register, ..self }
    }

    /// The same; `yes`: an operand passes the shifter.
    #[must_use]
    pub const fn shifting(self, yes: bool) -> Self {
        Self { shifted: yes, ..self }
    }

    /// The same, marked as one that needs the floating-point unit.
    #[must_use]
    pub const fn on_float(self) -> Self {
        Self { float: true, ..self }
    }
}
