"""The documentation at `/docs`: the built site, or, where it was not built, its pages as they are
written."""
