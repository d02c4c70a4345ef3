"""Names that only one row may have."""

from uuid import UUID

from cadenza.adapters.memory.writes import Writes
from cadenza.domain.errors import AlreadyThere

Name = tuple[UUID, str]  # of a tenant's job, or of a job's endpoint


class NamedRows(Writes):
    """Names are unique among what is not archived."""

    def _move_name(
        self,
        names: dict[Name, UUID],
        before: Name | None,
        after: Name | None,
        row_id: UUID,
        is_taken: str,
    ) -> None:
        if before == after:
            return
        if before is not None:
            self._delete(names, before)
        if after is not None:
            if after in names:
                raise AlreadyThere("name", after[1], f"{is_taken}; choose another")
            self._put(names, after, row_id)
