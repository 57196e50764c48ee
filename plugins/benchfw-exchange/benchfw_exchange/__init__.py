"""Runs in the forms that other tools read, by `benchfw export --format NAME`.

Each exporter is imported when it is first used, and so is the library that it needs.
"""

from __future__ import annotations

from benchfw import hookimpl
from benchfw.loading import make_registrar

benchfw_api = 1

EXPORTERS: dict[str, str] = {
    "asv": "asv:Asv",
    "bencher": "estimates:Bencher",
    "coco": "coco:Coco",
    "github-action-benchmark": "estimates:GitHubActionBenchmark",
    "mlflow": "mlflow:MLflow",
    "wandb": "wandb:WeightsAndBiases",
}

register_exporters = hookimpl(make_registrar(__name__, EXPORTERS))
