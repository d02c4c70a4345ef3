-- A worker has ended as it should.
DELETE FROM workers WHERE name = $1
