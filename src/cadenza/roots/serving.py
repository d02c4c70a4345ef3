"""How the API is served: uvicorn, with its limits and an end for event streams."""

import asyncio
from types import FrameType

import uvicorn
from fastapi import FastAPI


class Server(uvicorn.Server):
    """Event streams do not end by themselves: they are ended before other requests are awaited."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app: FastAPI = self.config.app  # type: ignore[assignment]
        asyncio.get_running_loop().call_soon_threadsafe(app.state.dependencies.around.streams.end)
        super().handle_exit(sig, frame)


def server_config(app: FastAPI, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # nobody asks where a request came from
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=64 * 1024,
    )
