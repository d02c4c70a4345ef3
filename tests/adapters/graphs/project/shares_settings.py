"""Imports what another graph has imported before it, with the address of no run."""

import settings_module


async def address(values):
    return settings_module.ADDRESS
