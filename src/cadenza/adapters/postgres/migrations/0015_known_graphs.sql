-- Which graphs there are: what graph workers announce with their beat.

ALTER TABLE workers ADD COLUMN labels text[] NOT NULL DEFAULT '{}';

CREATE TABLE worker_graphs (
    worker text NOT NULL REFERENCES workers ON DELETE CASCADE,
    graph_id text COLLATE "C" NOT NULL,
    problem text,  -- NULL: it was loaded
    input_schema jsonb,
    PRIMARY KEY (worker, graph_id)
);
CREATE INDEX worker_graphs_by_id ON worker_graphs (graph_id);
