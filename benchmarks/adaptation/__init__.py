"""Whether adapting helps: traces of real and made-up targets, replayed under several policies."""
