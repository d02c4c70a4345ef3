"""The patterns that texts of a request must match, and how each is told to who sent another."""

from cadenza.domain.billing_validation import REFERENCE

BEGINNING_OF_ID = "^[0-9A-Fa-f]{8}[0-9A-Fa-f-]*$"
CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
EVENT_KIND = r"^[a-z]+([.-][a-z]+)*$"
VISIBLE_ASCII = r"^[\x21-\x7e]+$"
WHAT_FITS = {
    BEGINNING_OF_ID: "write at least the first eight digits of an id, like 01a1ece2",
    CLOCK: 'write a time of the day, like "22:00"',
    EVENT_KIND: "write a kind of event, like run.failed, or run for all that begin so",
    REFERENCE: "write at most 100 letters, digits, . _ : and -, like invoice-2026-03",
    VISIBLE_ASCII: "write letters, digits and punctuation of ASCII, without spaces",
}
