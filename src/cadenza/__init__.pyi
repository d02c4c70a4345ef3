from cadenza.adapters.functions.run import Run as Run
from cadenza.adapters.functions.run import current_run as current_run
from cadenza.api import Client as Client
from cadenza.app import Cadenza as Cadenza
from cadenza.async_api import AsyncClient as AsyncClient
from cadenza.domain.errors import CadenzaError as CadenzaError

__all__ = ["AsyncClient", "Cadenza", "CadenzaError", "Client", "Run", "current_run"]
