-- What time it is, by the only clock that counts.
SELECT cadenza_now()
