"""The first tenant, its admin and their key: made where there is nobody yet."""

from dataclasses import dataclass
from uuid import UUID

from cadenza.application.accounts import Keys, NewKey, Tenants
from cadenza.application.ports.accounts import TenantReads
from cadenza.domain.access import Actor, Scope, User
from cadenza.domain.errors import AlreadyThere

TENANT, USER, KEY = "default", "admin", "first"
FIRST_START = Actor("first start", "first start")


@dataclass(frozen=True, slots=True)
class FirstStart:
    tenants: Tenants
    keys: Keys
    reads: TenantReads

    async def first_key(self) -> str | None:
        """The token of a new admin key where there was no tenant."""
        if await self.reads.list_tenants(None, 1):
            return None
        try:
            tenant_id, _ = await self.tenants.create(TENANT, None, actor=FIRST_START)
        except AlreadyThere:  # another program was faster
            return None
        user, _ = await self.tenants.create_user(tenant_id, USER, actor=FIRST_START)
        return await self._new_key(user)

    async def another_key(self) -> str | None:
        """For the admin of the first tenant, whose key was lost."""
        admin = await self._first_admin()
        return await self._new_key(admin) if admin is not None else None

    async def _new_key(self, admin: User) -> str:
        wanted = NewKey(KEY, (Scope.ADMIN,), admin.id)
        _, token = await self.keys.create_for(admin.tenant_id, wanted, actor=FIRST_START)
        return token

    async def _first_admin(self) -> User | None:
        after: UUID | None = None
        while tenants := await self.reads.list_tenants(after, 200):
            for tenant in tenants:
                if tenant.name == TENANT:
                    users = await self.reads.list_users(tenant.id)
                    return next((user for user in users if user.name == USER), None)
            after = tenants[-1].id
        return None
