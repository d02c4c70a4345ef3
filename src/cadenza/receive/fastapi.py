"""For FastAPI: a dependency that is the call.

verified = VerifiedCall(Receiver("whsec_…"))

@app.post("/queue")
async def queue(call: Annotated[Call, Depends(verified)]): ...
"""

from fastapi import Request

from cadenza.receive.starlette import received
from cadenza.receive.verifying import Call, Receiver


class VerifiedCall:
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver

    async def __call__(self, request: Request) -> Call:
        return await received(self._receiver, request)
