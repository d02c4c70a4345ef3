"""What people write: jobs and endpoints as documents, in a request or in a file."""
