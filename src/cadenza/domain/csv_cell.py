"""Text in a CSV file that a spreadsheet program will open."""

# Some spreadsheets also accept the full-width forms of these signs.
_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_cell(text: str) -> str:
    """With an apostrophe before what a spreadsheet would run as a formula, whoever wrote it."""
    return f"'{text}" if text.lstrip(" ").startswith(_BEGINS_A_FORMULA) else text
