"""The REST API, `/api/v1`: one file per resource."""
