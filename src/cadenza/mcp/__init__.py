"""Cadenza for assistants: tools, prompts and documents over the Model Context Protocol."""
