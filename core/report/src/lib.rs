//! Timelines, figures and every report that is printed or drawn.
//!
//! Keys of serialised reports are snake_case with the unit in the name; scripts rely on them.

pub mod acceptance;
mod accesses;
mod badge_svg;
mod canvas;
mod compare;
mod covered;
mod csv;
mod diagnostic;
mod energy;
mod exits;
mod figure;
mod film_svg;
#[cfg(test)]
mod fixture;
mod float_comparison;
mod genotypes;
mod kinds;
mod memory_map;
pub mod memory_map_svg;
mod name;
mod occupancy;
mod operators;
mod papers;
mod plan_report;
mod profile;
pub mod quantity;
mod ranges;
mod remedy;
mod report_html;
mod run_report;
mod run_result;
mod scale;
mod scatter_svg;
mod schedule;
mod sentence;
mod settings;
mod slices;
mod sweep;
mod sweep_chart;
mod timeline;
mod trace;
mod traffic;
mod unsupported;
mod wear;
mod what_fits;
mod zoo;

pub use accesses::{Access, Accesses, LaneAccesses, Place};
pub use badge_svg::badge_svg;
pub use canvas::{COLOURS, mark_of};
pub use compare::{Compared, Value, compare};
pub use csv::{CsvColumn, csv_row, csv_table};
pub use diagnostic::{Blame, Diagnostic, Need};
pub use energy::{Energy, NoPower, State, StateEnergy, least_power_mw};
pub use exits::{ExitAlone, ExitsReport, THRESHOLD_COLUMNS, ThresholdRow};
pub use figure::{
    ByCount, ByMeasure, ByModel, ByProof, Counted, Figure, Kind, KindType, Measured, Modelled,
    Proved,
};
pub use film_svg::film_svg;
pub use float_comparison::{Agreement, FloatComparison, Loss, NotCompared, TensorComparison};
pub use genotypes::{
    GenotypeKey, GenotypeRow, GenotypesReport, OperationCost, OperationKey, OperationRow, Proxy,
    ProxyCorrelation, ProxyValues, RankedGenotype, Verdict,
};
pub use kinds::{WithKinds, kinds_of};
pub use memory_map::{MemoryMap, MemoryRow, PlacedTensor, TensorUse};
pub use name::{plain, short_name};
pub use occupancy::{Came, Held, Occupancy, Occupied, Stay};
pub use operators::{
    DataCacheUse, DepthwiseShare, DistinctOperator, OperatorClaim, OperatorClass, OperatorKey,
    OperatorRow, OperatorRun, OperatorShape, OperatorUse, OperatorsCore, OperatorsNetwork,
    OperatorsReport,
};
pub use papers::{PaperFigure, PaperPlan, PaperReport, paper_curves, paper_number};
pub use plan_report::{
    Alternative, DoesNotFit, ExitRow, LayerRow, Part, PartRole, PlanReport, Stage, WeightPacking,
};
pub use profile::{Cause, CauseCount, HotBlock, LayerProfile, ListedInstruction, MAX_LISTED};
pub use ranges::Ranges;
pub use remedy::{Change, EXTERNAL_FLASH, EXTERNAL_RAM, FLASH, Remedy, SRAM, changes};
pub use report_html::report_html;
pub use run_report::{
    Difference, FailedCopy, Fault, FaultKind, LayerCount, PREDICTION_MAY_BE_OFF, StackUse,
    over_prediction,
};
pub use run_result::{
    Comparison, Engine, InvokeRow, LayerCheck, Mode, OutputValues, RunResult, UnknownMode,
};
pub use scale::{
    Accuracy, Diminishing, ScaleReport, ScaleTarget, ScaledNetwork, TradeOff, WithinLimit,
};
pub use scatter_svg::{Axis, Point, Scale, Scatter, Series, stacked_svg, tick_text};
pub use schedule::{Pictured, Schedule};
pub use sentence::sentence;
pub use settings::{
    Integrity, Kernels, MOST_FRAMES, Objective, Outputs, Packing, PlanSettings, choice, word,
};
pub use slices::slices_csv;
pub use sweep::{SweepKey, SweepPlan, SweepRow, sweep_columns};
pub use sweep_chart::{SweepAxis, SweepBy, SweepChart};
pub use timeline::{Counts, Slice, SliceKind, Timeline};
pub use trace::Trace;
pub use traffic::{Tier, Traffic, Way};
pub use unsupported::Unsupported;
pub use wear::Wear;
pub use what_fits::{Family, FitCell, FitClaim, FitReport, Technique};
pub use zoo::{PublicationView, Slider, ZooSize, ZooView};
