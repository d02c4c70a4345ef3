"""Who is signed in to the dashboard: what is read, and a transaction's verbs."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.sign_in import SignIn, SignInLink


class SignInReads(Protocol):
    async def find_sign_in(self, token_hash: bytes) -> tuple[SignIn, datetime] | None:
        """With the time it is to be judged by."""
        ...

    async def note_seen(self, token_hash: bytes) -> None: ...


class SignInRows(Protocol):
    async def insert_sign_in(self, sign_in: SignIn) -> None:
        """NotFound where its key is gone."""
        ...

    async def delete_sign_in(self, token_hash: bytes) -> None: ...

    async def delete_sign_ins_of_user(self, tenant_id: UUID, user_id: UUID) -> None:
        """Links that wait among them."""
        ...

    async def delete_ended_sign_ins(self, now: datetime) -> None: ...

    async def insert_sign_in_link(self, link: SignInLink) -> None:
        """NotFound where its key is gone."""
        ...

    async def take_sign_in_link(self, token_hash: bytes) -> tuple[SignInLink, datetime] | None:
        """It is gone then: a link works once."""
        ...
