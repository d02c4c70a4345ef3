"""The settings of graphs: where they are, what they may see, and what models cost."""

from typing import Annotated, Any

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
    ray_address: str = ""
    """A Ray cluster to run graphs on, like ray://head.example:10001; none: on this machine."""
    ray_wait_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60
    """How long a run waits on a cluster for CPUs, GPUs and memory that are not free."""
    ray_runtime_env: dict[str, Any] = Field(
        default={},
        description="What hosts on a cluster are started with, as JSON, in Ray's own words: "
        '{"working_dir": "s3://bucket/graphs.zip", "pip": ["…"]}.',
    )
    prices: dict[str, Price] = Field(
        default={},
        description="Dollars for a million tokens of models, as JSON: "
        '{"my-model": {"input": 1, "output": 2}}. They count before the known ones.',
    )
