"""The SQLite store of runs, trials and records: the only part that speaks SQL."""

from benchfw.store.schema import APPLICATION_ID
from benchfw.store.store import Store

__all__ = ["APPLICATION_ID", "Store"]
