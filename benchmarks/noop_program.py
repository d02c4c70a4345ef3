"""A user's program with one function that does nothing."""

from cadenza import Cadenza

app = Cadenza("bench")


@app.on_demand
async def noop() -> dict[str, int]:
    return {"depth": 3}


if __name__ == "__main__":
    app.run()
