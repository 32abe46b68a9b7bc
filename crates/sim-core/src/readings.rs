//! Readings: questions that a paper leaves open, each with the alternative answers.
//!
//! A model declares its readings once, by [`readings!`](crate::readings!). The macro generates the struct for the table
//! `readings` of a scenario, a type for the answers to each question, the defaults, and the [`Reading`]s for commands
//! that list them or try every other answer.

/// Question that a paper leaves open, and the field of its scenario that answers it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Id in the paper's specification: `R2`.
    pub id: &'static str,
    /// Field in the scenario's table `readings`.
    pub field: &'static str,
    /// Question that the paper leaves open.
    pub question: &'static str,
    /// Answers, as the scenario writes them, the default first.
    pub answers: &'static [&'static str],
}

impl Reading {
    /// Scenario key, as `--set` takes it.
    pub fn key(&self) -> String {
        format!("readings.{}", self.field)
    }
}

/// Declares the readings of a paper: a struct with a field for each, its defaults and the types of the answers.
///
/// A question is answered by one of some words (`enum`, which declares that type, as [`answers!`](crate::answers!) does), or
/// by one of some numbers or truth values. The first answer is the default. An answer may have a `type` declared elsewhere:
/// by `answers!`, beside the code that it decides, or by hand, where the answers mix numbers and words. In the latter case
/// the braces list the scenario's text for each answer; the first one is the type's `Default`.
///
/// Generates the struct, read and written by serde as the table `readings` of a scenario; its `Default`; the types of
/// the answers, each with its `Default` and `ANSWERS`; and `LIST`, the [`Reading`]s in the order of the declaration.
/// The crate that declares readings depends on `serde`.
///
/// ```
/// sim_core::readings! {
///     /// Questions that the paper leaves open.
///     #[serde(deny_unknown_fields)]
///     pub struct Readings {
///         R1 release: enum Release "When is a gang's processor released?" {
///             /// When its own task has ended.
///             TaskEnd,
///             /// When the last task of the gang has ended.
///             GangEnd,
///         }
///         R2 most: u32 "How many tasks run beside a local user?" { 2, 1, 3 }
///         R3 order: type Order "Who is first?"
///         R4 due: type Due "When is a job due, in seconds after its run time?" { "250.0", "never" }
///     }
/// }
///
/// sim_core::answers! {
///     /// R3.
///     pub enum Order {
///         /// By arrival.
///         Fcfs,
///         /// The shortest.
///         Sjf,
///     }
/// }
///
/// /// R4.
/// #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// #[serde(untagged)]
/// pub enum Due {
///     After(f64),
///     Word(Never),
/// }
///
/// # #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// # #[serde(rename_all = "kebab-case")]
/// # pub enum Never {
/// #     Never,
/// # }
/// impl Default for Due {
///     fn default() -> Self {
///         Self::After(250.0)
///     }
/// }
///
/// let default = Readings::default();
/// assert_eq!((default.release, default.most), (Release::TaskEnd, 2));
/// assert_eq!((default.order, default.due), (Order::Fcfs, Due::After(250.0)));
/// assert_eq!(Readings::LIST[0].answers, ["task-end", "gang-end"]);
/// assert_eq!((Readings::LIST[1].id, Readings::LIST[1].answers), ("R2", &["2", "1", "3"][..]));
/// assert_eq!((Readings::LIST[2].answers, Readings::LIST[3].answers), (&["fcfs", "sjf"][..], &["250.0", "never"][..]));
/// ```
#[macro_export]
macro_rules! readings {
    ($(#[$meta:meta])* $vis:vis struct $Readings:ident { $($fields:tt)* }) => {
        $crate::readings!(@field [$(#[$meta])*] [$vis] $Readings [] [$($fields)*]);
    };
    // Question with words as answers: declare their type.
    (@field $metas:tt [$vis:vis] $Readings:ident [$($done:tt)*] [
        $(#[$meta:meta])* $id:ident $field:ident: enum $Answer:ident $question:literal { $($answers:tt)* } $($rest:tt)*
    ]) => {
        $crate::answers! {
            #[doc = concat!(stringify!($id), ": ", $question)]
            $vis enum $Answer { $($answers)* }
        }
        $crate::readings!(@field $metas [$vis] $Readings [$($done)*] [
            $(#[$meta])* $id $field: type $Answer $question $($rest)*
        ]);
    };
    // Question whose answers have a type declared elsewhere: by hand, with the scenario's text for each answer …
    (@field $metas:tt [$vis:vis] $Readings:ident [$($done:tt)*] [
        $(#[$meta:meta])* $id:ident $field:ident: type $Answer:ident $question:literal { $($answer:literal),* $(,)? } $($rest:tt)*
    ]) => {
        $crate::readings!(@field $metas [$vis] $Readings [$($done)* {
            [$(#[$meta])*] $id $field $Answer $question [&[$($answer),*]] [<$Answer as ::core::default::Default>::default()]
        }] [$($rest)*]);
    };
    // … or by `answers!`.
    (@field $metas:tt [$vis:vis] $Readings:ident [$($done:tt)*] [
        $(#[$meta:meta])* $id:ident $field:ident: type $Answer:ident $question:literal $($rest:tt)*
    ]) => {
        $crate::readings!(@field $metas [$vis] $Readings [$($done)* {
            [$(#[$meta])*] $id $field $Answer $question [$Answer::ANSWERS] [<$Answer as ::core::default::Default>::default()]
        }] [$($rest)*]);
    };
    // Question with numbers or truth values as answers.
    (@field $metas:tt [$vis:vis] $Readings:ident [$($done:tt)*] [
        $(#[$meta:meta])* $id:ident $field:ident: $Number:ident $question:literal { $first:literal $(, $other:literal)* $(,)? }
        $($rest:tt)*
    ]) => {
        $crate::readings!(@field $metas [$vis] $Readings [$($done)* {
            [$(#[$meta])*] $id $field $Number $question [&[stringify!($first) $(, stringify!($other))*]] [$first]
        }] [$($rest)*]);
    };
    (@field [$(#[$meta:meta])*] [$vis:vis] $Readings:ident [$({
        [$(#[$field_meta:meta])*] $id:ident $field:ident $Answer:ident $question:literal [$($answers:tt)*] [$($default:tt)*]
    })*] []) => {
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        $(#[$meta])*
        $vis struct $Readings {
            $(
                #[doc = concat!(stringify!($id), ": ", $question)]
                $(#[$field_meta])*
                $vis $field: $Answer,
            )*
        }

        impl $Readings {
            /// Every reading, in the order of the declaration.
            $vis const LIST: &'static [$crate::readings::Reading] = &[
                $($crate::readings::Reading {
                    id: stringify!($id),
                    field: stringify!($field),
                    question: $question,
                    answers: $($answers)*,
                },)*
            ];
        }

        impl ::core::default::Default for $Readings {
            /// Readings with the first answer to each question.
            fn default() -> Self {
                Self { $($field: $($default)*,)* }
            }
        }
    };
}

/// Declares the answers to a [reading](crate::readings!), the default first: the type, read and written by serde, its `Default`
/// and `FromStr`, and `ANSWERS`, as a scenario writes them. An answer is the variant's name in lower case with hyphens, or the literal after `=`.
///
/// ```
/// sim_core::answers! {
///     /// Neighbours of a peer.
///     pub enum Neighbours {
///         /// Those nearby.
///         Geographic,
///         /// Four, drawn.
///         Random4 = "random-4",
///     }
/// }
///
/// assert_eq!((Neighbours::default(), Neighbours::ANSWERS), (Neighbours::Geographic, &["geographic", "random-4"][..]));
/// assert_eq!("random-4".parse(), Ok(Neighbours::Random4));
/// assert_eq!("near".parse::<Neighbours>(), Err("expected geographic, random-4, found \"near\"".to_owned()));
/// ```
#[macro_export]
macro_rules! answers {
    ($(#[$meta:meta])* $vis:vis enum $Answer:ident {
        $(#[$first_meta:meta])* $first:ident $(= $first_word:literal)?
        $(, $(#[$other_meta:meta])* $other:ident $(= $word:literal)?)* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, ::serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        $vis enum $Answer {
            $(#[$first_meta])* #[default] $(#[serde(rename = $first_word)])? $first,
            $($(#[$other_meta])* $(#[serde(rename = $word)])? $other,)*
        }

        impl $Answer {
            /// The answers as a scenario writes them, the default first.
            $vis const ANSWERS: &'static [&'static str] = &[
                $crate::answers!(@word $first $($first_word)?),
                $($crate::answers!(@word $other $($word)?),)*
            ];
        }

        impl ::core::str::FromStr for $Answer {
            type Err = ::std::string::String;

            fn from_str(word: &str) -> ::core::result::Result<Self, Self::Err> {
                const ALL: &[$Answer] = &[$Answer::$first, $($Answer::$other),*];
                $crate::readings::place_of(word, Self::ANSWERS).map(|place| ALL[place])
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Answer {
            // The derived implementation is ten times as long, and compiled for each answer and each kind of file.
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                let word = <::std::string::String as ::serde::Deserialize>::deserialize(deserializer)?;
                word.parse().map_err(|_| ::serde::de::Error::unknown_variant(&word, Self::ANSWERS))
            }
        }
    };
    (@word $answer:ident $word:literal) => { $word };
    (@word $answer:ident) => {{
        const WORD: &([u8; 64], usize) = &$crate::readings::hyphenated(stringify!($answer));
        $crate::readings::as_text(WORD)
    }};
}

#[doc(hidden)]
pub fn place_of(word: &str, answers: &[&str]) -> Result<usize, String> {
    let found = || format!("expected {}, found {word:?}", answers.join(", "));
    answers.iter().position(|answer| *answer == word).ok_or_else(found)
}

/// Converts `TaskEnd` to `task-end`, in a constant. Returns the bytes and their number, at most 64.
#[doc(hidden)]
pub const fn hyphenated(name: &str) -> ([u8; 64], usize) {
    let (name, mut word, mut i, mut at) = (name.as_bytes(), [0; 64], 0, 0);
    while i < name.len() {
        if i > 0 && name[i].is_ascii_uppercase() {
            word[at] = b'-';
            at += 1;
        }
        word[at] = name[i].to_ascii_lowercase();
        at += 1;
        i += 1;
    }
    (word, at)
}

/// Converts a [`hyphenated`] name to text.
#[doc(hidden)]
pub const fn as_text(word: &'static ([u8; 64], usize)) -> &'static str {
    match core::str::from_utf8(word.0.split_at(word.1).0) {
        Ok(text) => text,
        Err(_) => panic!("a name is text"),
    }
}
