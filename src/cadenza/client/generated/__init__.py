"""Made from the OpenAPI document."""
