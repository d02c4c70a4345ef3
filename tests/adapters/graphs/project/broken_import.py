raise RuntimeError("no network while importing")
