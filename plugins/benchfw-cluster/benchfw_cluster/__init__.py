"""Trials on many machines: on the workers of a Dask cluster, or on jobs of SLURM that become one."""

from __future__ import annotations

from benchfw import hookimpl
from benchfw.loading import make_registrar

benchfw_api = 1

EXECUTORS: dict[str, str] = {"dask": "clusters:DaskCluster", "slurm": "clusters:SlurmCluster"}

register_executors = hookimpl(make_registrar(__name__, EXECUTORS))
