"""`cadenza demo`: a rush in a small shop, and a schedule that tightens, acts and relaxes."""
