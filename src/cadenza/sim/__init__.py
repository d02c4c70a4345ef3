"""The simulation: production's domain and application over memory and simulated time."""
