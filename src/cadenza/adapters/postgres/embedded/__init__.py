"""A PostgreSQL of our own, for a machine where nobody set one up.

What holds, whatever happens to any of the processes:

- One folder has one server. A lock on `server.lock` proves it: the lock is handed to the server
  itself, so it is free exactly when no process of that server is left. No pid file is trusted.
- The server ends with the program that started it. A guard process stands between the two: it
  notices the end of the program (also by kill -9) and shuts the server down; if the guard dies, the
  kernel signals the server to shut down.
- Real data is never deleted. A cluster is made under another name and renamed when it is complete.
- The password is in the file `password` (0600) and in the DSN, never in an argument or a log.
"""

from cadenza.adapters.postgres.embedded.supervisor import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
