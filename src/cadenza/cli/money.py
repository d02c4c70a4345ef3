"""Credits as a person reads them: a credit is a millionth of a dollar."""

CREDITS_PER_DOLLAR = 1_000_000  # as in domain/billing.py, which takes longer to load


def dollars(credits: int) -> str:  # noqa: A002
    """`$1.25`, `-$0.000015`: to the credit, and at least to the cent."""
    whole, part = divmod(abs(credits), CREDITS_PER_DOLLAR)
    digits = f"{part:06}".rstrip("0").ljust(2, "0")
    return f"{'-' if credits < 0 else ''}${whole:,}.{digits}"


def credits_text(credits: int) -> str:  # noqa: A002
    return f"{credits:,} credits ({dollars(credits)})"
