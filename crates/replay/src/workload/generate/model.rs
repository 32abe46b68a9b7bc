//! The models by name, with their parameters.

use super::preset;
use crate::workload::cli::{Generate, Model};
use anyhow::{Result, anyhow, bail, ensure};
use clap::ValueEnum;
use sim_core::Streams;
use workload::model::{Downey, Jann, Lublin, ModelJob, SessionModel};

/// A model that jobs are drawn from.
pub(in crate::workload) struct Drawn {
    name: Model,
    kind: Kind,
    /// Of the machine, for the head of the log.
    processors: u32,
}

enum Kind {
    Lublin(Lublin),
    Downey(Downey),
    Jann(Jann),
    Session(Box<SessionModel>),
}

/// As on the command line.
pub(super) fn name(model: Model) -> String {
    model.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Drawn {
    /// The model that was asked for; its parameters are sound.
    pub(in crate::workload) fn of(options: &Generate) -> Result<Self> {
        let asked = options.model;
        let bad = |error: &dyn std::fmt::Display| anyhow!("{}: {error}", name(asked));
        if options.procs.is_some() && !matches!(asked, Model::Lublin | Model::Downey) {
            bail!(
                "--procs does not fit {}: its sizes are those of a table; generate lublin or downey, or change the table in a \
                 preset (--show prints one)",
                name(asked)
            );
        }
        if options.preset.is_some() && matches!(asked, Model::WagapLike | Model::ZewuraLike) {
            bail!("--preset does not fit {}, which is a preset itself; generate session --preset FILE", name(asked));
        }
        let (kind, processors) = match asked {
            Model::Lublin => {
                let published = match options.procs {
                    None => Lublin::default(),
                    Some(1) => bail!("--procs 1: the parallel jobs of lublin need at least 2 processors"),
                    Some(processors) => Lublin::typeless(processors),
                };
                let model = preset::parameters(published, options)?;
                model.validate().map_err(|error| bad(&error))?;
                let largest = model.classes.iter().map(|class| class.high).fold(0.0, f64::max);
                let processors = options.procs.unwrap_or_else(|| size_of(largest));
                (Kind::Lublin(model), processors)
            }
            Model::Downey => {
                let published = Downey::default();
                let published = Downey { processors: options.procs.unwrap_or(published.processors), ..published };
                let model = preset::parameters(published, options)?;
                model.validate().map_err(|error| bad(&error))?;
                (Kind::Downey(model), model.processors)
            }
            Model::Jann => {
                let model = preset::parameters(Jann::default(), options)?;
                model.validate().map_err(|error| bad(&error))?;
                let sizes = model.ranges.iter().flat_map(|range| &range.sizes).map(|(size, _)| *size);
                let processors = sizes.max().unwrap_or(1);
                (Kind::Jann(model), processors)
            }
            Model::WagapLike | Model::ZewuraLike | Model::Session => {
                let (built_in, machine) = match asked {
                    Model::ZewuraLike => (SessionModel::zewura_like(), 1600),
                    _ => (SessionModel::wagap_like(), 2176),
                };
                let is_given = asked != Model::Session || options.preset.is_some();
                ensure!(
                    is_given,
                    "session: needs --preset FILE; `{} workload fit LOG --out FILE` measures one in a log",
                    lab::cli::program()
                );
                let model = preset::parameters(built_in, options)?;
                model.validate().map_err(|error| bad(&error))?;
                let widest = model.sizes.iter().map(|size| size.processors).max().unwrap_or(1);
                let processors = if asked == Model::Session { widest } else { machine.max(widest) };
                (Kind::Session(Box::new(model)), processors)
            }
        };
        Ok(Self { name: asked, kind, processors })
    }

    /// As on the command line.
    pub(super) fn name(&self) -> String {
        name(self.name)
    }

    /// Whose model it is.
    pub(super) const fn about(&self) -> &'static str {
        match self.name {
            Model::Lublin => "the model of Lublin & Feitelson (2003)",
            Model::Downey => "the model of Downey (1997)",
            Model::Jann => "the model of Jann et al. (1997)",
            Model::WagapLike => "a model measured in the log wagap-2013 of CERIT-SC, MetaCentrum",
            Model::ZewuraLike => "a model of the log of Zewura, after wagap-2013 of CERIT-SC, MetaCentrum",
            Model::Session => "a model measured in a log",
        }
    }

    /// Processors of the machine that the jobs are for.
    pub(in crate::workload) const fn processors(&self) -> u32 {
        self.processors
    }

    /// All parameters, as a preset.
    pub(super) fn parameters(&self) -> Result<String> {
        let text = match &self.kind {
            Kind::Lublin(model) => toml::to_string(model),
            Kind::Downey(model) => toml::to_string(model),
            Kind::Jann(model) => toml::to_string(model),
            Kind::Session(model) => toml::to_string(model.as_ref()),
        };
        Ok(text?)
    }

    /// Jobs without end, in order of submission.
    pub(in crate::workload) fn jobs(&self, streams: &Streams) -> Box<dyn Iterator<Item = ModelJob>> {
        match &self.kind {
            Kind::Lublin(model) => Box::new(model.jobs(streams)),
            Kind::Downey(model) => Box::new(model.jobs(streams)),
            Kind::Jann(model) => Box::new(model.jobs(streams)),
            Kind::Session(model) => Box::new(model.jobs(streams)),
        }
    }
}

/// Two to the power of `exponent`, a whole number of processors.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the exponent is below 32")]
fn size_of(exponent: f64) -> u32 {
    (libm::exp2(exponent) + 0.5) as u32
}
