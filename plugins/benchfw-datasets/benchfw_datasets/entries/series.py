"""Time series for Gaussian processes."""

from __future__ import annotations

from benchfw.data import ArraySpec, Dataset, RawFile

WEATHER = ("temp_c", "apparent_c", "humidity", "wind_kmh", "bearing_deg", "visibility_km", "pressure_mb")

SOUND = Dataset(
    "sound",
    "Natural sound: 60,000 samples of a waveform, 691 of them missing in 56 gaps",
    {
        "y": ArraySpec((60_000,), "float32"),
        "test": ArraySpec((7_500,), "uint8"),
        "n": ArraySpec((), "int64"),
        "hyp_ell_sf_sn": ArraySpec((3,), "float64", optional=True),
    },
    "Wilson & Nickisch, KISS-GP, ICML 2015; Dong et al., Scalable Log Determinants, NeurIPS 2017",
    "none stated: research use, no redistribution",
    (
        RawFile(
            "audio_data.mat",
            "https://raw.githubusercontent.com/kd383/GPML_SLD/"
            "6978138720fa9a681b7768e4d0915800ca382295/demo/sound/audio_data.mat",
        ),
    ),
    "benchfw_datasets.loaders.series:sound",
    {"dc2ade319bb7eacc505c84c939aed723b8f6da438bc6fcc2ad6fa3462a51c935": "audio_data.mat of GPML_SLD"},
    notes=(
        "Input is 1 … 60000; `test` is a bit mask, numpy.unpackbits(test)[:n]; hyp_ell_sf_sn are length "
        "scale, signal and noise deviations as its authors start from."
    ),
    twin="sound-like",
)
SZEGED_WEATHER = Dataset(
    "szeged-weather",
    "Weather in Szeged, 2006 to 2016: 96,453 hours",
    {
        "unix_time": ArraySpec((96_453,), "int32"),
        "precip": ArraySpec((96_453,), "int8"),
        **{name: ArraySpec((96_453,), "float32") for name in WEATHER},
    },
    "Kaggle data set budincsevity/szeged-weather",
    "see its Kaggle page: treat as research use",
    (RawFile("weatherHistory.csv"),),
    "benchfw_datasets.loaders.series:szeged_weather",
    {"c6182abc82ebe50afeb30b243d5bfe00c4f8a012b77670a34174b0a099166060": "weatherHistory.csv"},
    sealed=True,
    by_hand=(
        "Kaggle asks for an account: get weatherHistory.csv (or its zip) from "
        "https://www.kaggle.com/datasets/budincsevity/szeged-weather"
    ),
    notes=(
        "Sorted by time; 24 repeated hours are kept; 22 hours have humidity 0 and 1,288 pressure 0 "
        "(sensor gaps); precip is 0 none, 1 rain, 2 snow."
    ),
    twin="szeged-weather-like",
    split=("gaps", 17_520, 59, 10),
)
