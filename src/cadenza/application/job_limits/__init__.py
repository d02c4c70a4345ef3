"""What a person whose role is for single jobs may see and change: nothing else of the tenant."""
