"""The API from Python, on a loop and without one, over one core that does no IO."""
