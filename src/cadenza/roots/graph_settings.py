"""The settings of graphs: where they are, what they may see, and what models cost."""

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

InFlight = Annotated[int, Field(ge=1, le=10_000)]
Price = dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]


class GraphSettings(BaseSettings):
    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    graph_files: str = "langgraph.json"
    """Files, with commas, that say which LangGraph graphs there are."""
    graph_functions: str = ""
    """Python functions, with commas, that may be run as graphs, like shop.jobs:digest."""
    graph_paths: str = ""
    """Folders, with commas, that graphs are imported from."""
    graph_environment: str = ""
    """Names, with commas, of variables that graphs are given."""
    graph_labels: str = ""
    """Labels, with commas, of this graph worker, like gpu, region=eu."""
    graphs_at_once: InFlight = 50
    """Graphs that one worker runs at once."""
    prices: dict[str, Price] = Field(
        default={},
        description="Dollars for a million tokens of models, as JSON: "
        '{"my-model": {"input": 1, "output": 2}}. They count before the known ones.',
    )
