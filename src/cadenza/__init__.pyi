from cadenza.adapters.functions.run import Run as Run
from cadenza.adapters.functions.run import current_run as current_run
from cadenza.app import Cadenza as Cadenza
from cadenza.domain.errors import CadenzaError as CadenzaError

__all__ = ["Cadenza", "CadenzaError", "Run", "current_run"]
