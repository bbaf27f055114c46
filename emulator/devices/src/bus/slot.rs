//! What stands behind the rows of a microcontroller's table.

use crate::access::Device;
use crate::chip::Model;
use crate::control::ClockControl;
use crate::crc::Crc;
use crate::dma::Dma;
use crate::exti::Exti;
use crate::fmc::Fmc;
use crate::gpio::Gpio;
use crate::nrf_timer::NrfTimer;
use crate::nrf_uart::NrfUart;
use crate::pl011::Pl011;
use crate::plain::Plain;
use crate::quadspi::QuadSpi;
use crate::rng::Rng;
use crate::sdmmc::Sdmmc;
use crate::serial::Serial;
use crate::timer::Timer;
use crate::usart::Usart;

/// A device in its place.
#[derive(Clone, Debug)]
pub enum Slot {
    Rcc,
    Gpio(Gpio),
    Usart(Box<Usart>),
    NrfUart(Box<NrfUart>),
    Pl011(Box<Pl011>),
    Timer(Box<Timer>),
    NrfTimer(Box<NrfTimer>),
    Exti(Exti),
    Dma(Box<Dma>),
    Fmc(Fmc),
    QuadSpi(Box<QuadSpi>),
    Sdmmc(Box<Sdmmc>),
    Crc(Crc),
    Rng(Rng),
    Plain(Plain),
    Unmodelled,
}

impl Slot {
    pub fn new(model: Model) -> Self {
        match model {
            Model::Rcc => Self::Rcc,
            Model::Gpio(index) => Self::Gpio(Gpio::new(index)),
            Model::AnalogGpio(index) => Self::Gpio(Gpio::analog(index)),
            Model::Usart(number) => Self::Usart(Box::new(Usart::new(number))),
            Model::CombinedUsart(number) => Self::Usart(Box::new(Usart::combined(number))),
            Model::LpUart => Self::Usart(Box::new(Usart::low_power())),
            Model::NrfUart => Self::NrfUart(Box::default()),
            Model::Pl011 => Self::Pl011(Box::default()),
            Model::NrfTimer => Self::NrfTimer(Box::default()),
            Model::Timer(apb, wide) => Self::Timer(Box::new(Timer::new(apb, wide))),
            Model::Exti => Self::Exti(Exti::default()),
            Model::Dma(second) => Self::Dma(Box::new(Dma::new(second))),
            Model::Fmc => Self::Fmc(Fmc::default()),
            Model::QuadSpi => Self::QuadSpi(Box::default()),
            Model::Sdmmc => Self::Sdmmc(Box::default()),
            Model::Crc => Self::Crc(Crc::default()),
            Model::Rng => Self::Rng(Rng::default()),
            Model::Plain(end, rules) => Self::Plain(Plain::new(end, rules)),
            Model::Unmodelled => Self::Unmodelled,
        }
    }

    pub fn device<'a>(&'a mut self, control: &'a mut ClockControl) -> Option<&'a mut dyn Device> {
        match self {
            Self::Rcc => control.device(),
            Self::Gpio(device) => Some(device),
            Self::Usart(device) => Some(device.as_mut()),
            Self::NrfUart(device) => Some(device.as_mut()),
            Self::Pl011(device) => Some(device.as_mut()),
            Self::Timer(device) => Some(device.as_mut()),
            Self::NrfTimer(device) => Some(device.as_mut()),
            Self::Exti(device) => Some(device),
            Self::Dma(device) => Some(device.as_mut()),
            Self::Fmc(device) => Some(device),
            Self::QuadSpi(device) => Some(device.as_mut()),
            Self::Sdmmc(device) => Some(device.as_mut()),
            Self::Crc(device) => Some(device),
            Self::Rng(device) => Some(device),
            Self::Plain(device) => Some(device),
            Self::Unmodelled => None,
        }
    }

    /// A device that does something by itself.
    pub fn timed(&mut self) -> Option<&mut dyn Device> {
        match self {
            Self::Usart(device) => Some(device.as_mut()),
            Self::NrfUart(device) => Some(device.as_mut()),
            Self::Pl011(device) => Some(device.as_mut()),
            Self::Timer(device) => Some(device.as_mut()),
            Self::NrfTimer(device) => Some(device.as_mut()),
            Self::Dma(device) => Some(device.as_mut()),
            Self::Sdmmc(device) => Some(device.as_mut()),
            _ => None,
        }
    }

    /// A device with one interrupt.
    pub fn with_one_line(&self) -> Option<&dyn Device> {
        match self {
            Self::Usart(device) => Some(device.as_ref()),
            Self::NrfUart(device) => Some(device.as_ref()),
            Self::Pl011(device) => Some(device.as_ref()),
            Self::Timer(device) => Some(device.as_ref()),
            Self::NrfTimer(device) => Some(device.as_ref()),
            Self::Sdmmc(device) => Some(device.as_ref()),
            _ => None,
        }
    }

    pub fn serial(&self) -> Option<&dyn Serial> {
        match self {
            Self::Usart(device) => Some(device.as_ref()),
            Self::NrfUart(device) => Some(device.as_ref()),
            Self::Pl011(device) => Some(device.as_ref()),
            _ => None,
        }
    }

    pub fn serial_mut(&mut self) -> Option<&mut dyn Serial> {
        match self {
            Self::Usart(device) => Some(device.as_mut()),
            Self::NrfUart(device) => Some(device.as_mut()),
            Self::Pl011(device) => Some(device.as_mut()),
            _ => None,
        }
    }
}
