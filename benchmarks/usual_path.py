"""The same program with every read on FastAPI's usual path, to measure what the fast path gains."""

from fastapi.routing import APIRoute

from cadenza.roots.main import main
from cadenza.web.api import routes


def no_fast_path(_route: APIRoute) -> None:
    return None


if __name__ == "__main__":
    routes.fast_read = no_fast_path
    main()
