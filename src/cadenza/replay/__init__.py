"""`cadenza replay`: what another brain, or other rules, would have done with what was recorded."""
