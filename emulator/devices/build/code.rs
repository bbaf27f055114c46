//! The tables of chips as the library's code.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::file::{
    ChipFile, ClockControl, Layout, Limits, Model, Peripheral, Pins, Presumed, PresumedBits,
    Registers, Rule, Scale,
};

/// A table of all chips.
///
/// # Errors
/// Which file is wrong, and how.
pub fn of_all(files: &BTreeMap<String, ChipFile>) -> Result<String, String> {
    let mut text = "pub static CHIPS: &[(&str, Chip)] = &[\n".to_owned();
    for (id, file) in files {
        let chip = of_chip(file, files).map_err(|reason| format!("chips/{id}.toml: {reason}"))?;
        text += &format!("(\"{id}\", {chip}),\n");
    }
    Ok(text + "];\n")
}

fn of_chip(file: &ChipFile, files: &BTreeMap<String, ChipFile>) -> Result<String, String> {
    let named = |id: &str| files.get(id).ok_or_else(|| format!("there is no chip '{id}'"));
    let mut peripherals = BTreeMap::new();
    let mut add = |file: &ChipFile| {
        if !file.peripherals.list.is_sorted_by_key(|peripheral| peripheral.first) {
            return Err("peripherals are not in the order of addresses".to_owned());
        }
        for peripheral in &file.peripherals.list {
            let code = of_peripheral(peripheral, file)
                .map_err(|reason| format!("{}: {reason}", peripheral.name))?;
            peripherals.insert(peripheral.first, code);
        }
        Ok(())
    };
    if let Some(like) = &file.like {
        let other = named(like)?;
        if other.like.is_some() {
            return Err(format!("'{like}' is itself like another: name that one"));
        }
        add(other)?;
    }
    add(file)?;
    let others = file.pins.like.as_ref().or(file.like.as_ref());
    let others = others.map(|id| named(id)).transpose()?.map(|other| &other.pins);
    // Of a chip that is like another in all, what is fast is so too.
    let fast = match (file.like.is_some(), others) {
        (true, Some(others)) => &others.fast,
        _ => &file.pins.fast,
    };

    let other = file.like.as_ref().map(|id| named(id)).transpose()?;
    let presumed = file.presumed.as_ref().or(other.and_then(|other| other.presumed.as_ref()));
    let core = &file.core;
    if !core.fixed.is_sorted() {
        return Err("fixed registers are not in order".to_owned());
    }
    let caches = core.caches.as_ref().map_or("None".to_owned(), |caches| {
        let (data, instructions) = (caches.data, caches.instructions);
        format!("Some(Caches {{ data: {data}, instructions: {instructions} }})")
    });
    let mut text = String::new();
    let clocks = file.clock_control.as_ref();
    let layout = match clocks.map(|clocks| clocks.layout) {
        None => "None",
        Some(Layout::Stm32f4) => "Stm32f4",
        Some(Layout::Stm32l4) => "Stm32l4",
        Some(Layout::Rp2350) => "Rp2350",
    };
    let enables: Vec<u32> =
        clocks.map(|clocks| clocks.enables.values().copied().collect()).unwrap_or_default();
    let reset = clocks.map(|clocks| clocks.reset.as_slice()).unwrap_or_default();
    write!(
        text,
        "Chip {{\nperipherals: &[\n{}],\npins: &[\n{}],\nfast: &{fast:?},\npresumed: &[{}],\nlimits: {},\n\
         layout: Layout::{layout},\nenables: &{enables:?},\n\
         rcc_reset: {},\nrcc_last: {},\ncard_clock: {},\ncore: CoreIdentity {{ fixed: {}, ccr: {}, \
         caches: {caches}, locked_counter: {}, idcode: {} }} }}",
        peripherals.into_values().collect::<String>(),
        others.into_iter().chain([&file.pins]).map(of_pins).collect::<String>(),
        presumed.map_or_else(String::new, of_presumed),
        file.limits.as_ref().map_or("None".to_owned(), of_limits),
        pairs(reset),
        clocks.map_or(0, |clocks| clocks.last),
        clocks.map_or(0, |clocks| clocks.card_clock),
        pairs(&core.fixed),
        core.ccr,
        core.locked_counter,
        core.idcode,
    )
    .expect("a string takes whatever is written");
    Ok(text)
}

fn of_peripheral(peripheral: &Peripheral, file: &ChipFile) -> Result<String, String> {
    let Peripheral { name, first, .. } = peripheral;
    let last = peripheral.last.unwrap_or(first + (file.peripherals.bytes - 1));
    if last < *first {
        return Err("it ends before it begins".to_owned());
    }
    let clock = match &peripheral.clock {
        Some((register, bit)) => {
            let enables = |clocks: &ClockControl| clocks.enables.get(register).copied();
            let offset = file.clock_control.as_ref().and_then(enables);
            Some((offset.ok_or_else(|| format!("no enable register '{register}'"))?, *bit))
        }
        None => None,
    };
    let bus = peripheral.clock.as_ref().is_some_and(|(register, _)| register.starts_with("APB2"));
    let model = match &peripheral.model {
        None => "Unmodelled".to_owned(),
        Some(Model::Rcc) => "Rcc".to_owned(),
        Some(Model::Gpio(port)) => format!("Gpio({port})"),
        Some(Model::AnalogGpio(port)) => format!("AnalogGpio({port})"),
        Some(Model::Usart(number)) => format!("Usart({number})"),
        Some(Model::CombinedUsart(number)) => format!("CombinedUsart({number})"),
        Some(Model::Lpuart) => "LpUart".to_owned(),
        Some(Model::Pl011) => "Pl011".to_owned(),
        Some(Model::NrfUart) => "NrfUart".to_owned(),
        Some(Model::NrfTimer) => "NrfTimer".to_owned(),
        Some(Model::Timer(bits @ (16 | 32))) => {
            format!("Timer({}, {})", u8::from(bus), *bits == 32)
        }
        Some(Model::Timer(_)) => return Err("a timer counts with 16 or 32 bits".to_owned()),
        Some(Model::Exti) => "Exti".to_owned(),
        Some(Model::Dma(number @ (1 | 2))) => format!("Dma({})", *number == 2),
        Some(Model::Dma(_)) => return Err("DMA controllers are 1 and 2".to_owned()),
        Some(Model::Fmc) => "Fmc".to_owned(),
        Some(Model::Quadspi) => "QuadSpi".to_owned(),
        Some(Model::Sdmmc) => "Sdmmc".to_owned(),
        Some(Model::Crc) => "Crc".to_owned(),
        Some(Model::Rng) => "Rng".to_owned(),
        Some(Model::Registers(block)) => {
            let block = file.registers.get(block);
            of_registers(block.ok_or("its registers are not described")?)
        }
    };
    let interrupt = peripheral.interrupt;
    Ok(format!(
        "Peripheral {{ name: \"{name}\", first: {first}, last: {last}, clock: {clock:?}, \
         interrupt: {interrupt:?}, model: Model::{model} }},\n"
    ))
}

fn of_presumed(presumed: &Presumed) -> String {
    let each = presumed.list.iter().map(|PresumedBits { register, address, bits }| {
        format!("PresumedBits {{ register: {register:?}, address: {address}, bits: {bits} }}, ")
    });
    each.collect()
}

fn of_pins(pins: &Pins) -> String {
    let each = pins.list.iter().map(|it| {
        let (pin, function, signal) = (&it.pin, it.function, &it.signal);
        format!("PinFunction {{ pin: {pin:?}, function: {function}, signal: {signal:?} }},\n")
    });
    each.collect()
}

fn of_limits(limits: &Limits) -> String {
    let Limits { scales, apb, sdram, wait_state, .. } = limits;
    let scales = scales.each_ref().map(|Scale { plain, over_drive }| [plain, over_drive]);
    format!(
        "Some(Limits {{ scales: {scales:?}, apb: {apb:?}, sdram: {sdram}, wait_state: {wait_state} }})"
    )
}

fn of_registers(block: &Registers) -> String {
    let rules = block.rules.iter().map(|rule| match rule {
        Rule::Reset { at, reset } => format!("({at}, Rule::Reset({reset})), "),
        Rule::Fixed { at, fixed } => format!("({at}, Rule::Fixed({fixed})), "),
        Rule::Follows { at, follows, bits } => {
            format!("({at}, Rule::Follows({follows}, {})), ", pairs(bits))
        }
        Rule::Opposes { at, opposes, bits } => {
            format!("({at}, Rule::Opposes({opposes}, {})), ", pairs(bits))
        }
    });
    format!("Plain({}, &[{}])", block.end, rules.collect::<String>())
}

fn pairs(pairs: &[[u32; 2]]) -> String {
    let text: String = pairs.iter().map(|[a, b]| format!("({a}, {b}), ")).collect();
    format!("&[{text}]")
}
