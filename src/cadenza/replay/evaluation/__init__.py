"""How well a prompt or a model does: scenarios with known right answers, and recorded history."""
