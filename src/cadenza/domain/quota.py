"""What a tenant may spend on analysis: reserved before a session, settled after it."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Allowance:
    """Tokens of one tenant in one month. Reserved tokens count as spent until they are settled."""

    limit: int | None
    used: int = 0
    reserved: int = 0

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.used - self.reserved)

    def reserve(self, tokens: int) -> "Allowance | None":
        """None where that many tokens are not left, so that parallel sessions cannot overspend."""
        if self.left is not None and tokens > self.left:
            return None
        return replace(self, reserved=self.reserved + tokens)

    def settle(self, reserved: int, used: int) -> "Allowance":
        return replace(self, reserved=max(0, self.reserved - reserved), used=self.used + used)
