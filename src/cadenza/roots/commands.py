"""Every command by its name: where it is, and what help says of it before it is loaded."""

from cadenza.cli.lazy import Later

WORK = "Jobs and runs"
STEER = "Steering by hand"
CODE = "Schedules as code"
PEOPLE = "People and keys"
RUN = "Programs"

COMMANDS = {
    "jobs": Later("cadenza.cli.jobs", "Jobs: a description in plain words, and endpoints.", WORK),
    "endpoints": Later(
        "cadenza.cli.endpoints",
        "Endpoints: what is called, when, and within which limits.",
        WORK,
    ),
    "runs": Later("cadenza.cli.runs", "Runs: what ran, how it ended, and why it ran then.", WORK),
    "sessions": Later(
        "cadenza.cli.sessions", "Sessions: what the planner did or wanted, and why.", WORK
    ),
    "tail": Later(
        "cadenza.cli.tail",
        "Follow what happens: finished runs, actions of people and of the planner. Ctrl-C ends it.",
        WORK,
    ),
    "explain": Later(
        "cadenza.cli.outlook",
        "Say why an endpoint runs next when it does, and what would change it.",
        WORK,
    ),
    "preview": Later(
        "cadenza.cli.outlook",
        "Show the next runs, with the hints of now beside the plain baseline.",
        WORK,
    ),
    "run": Later(
        "cadenza.cli.actions", "Run an endpoint now, whatever its min and its pauses say.", STEER
    ),
    "test": Later(
        "cadenza.cli.actions",
        "Call an endpoint's target once; it is no run and counts for nothing. Ends with 1 if it "
        "fails.",
        STEER,
    ),
    "pause": Later(
        "cadenza.cli.actions",
        "Hold an endpoint back, until an instant or until it is resumed.",
        STEER,
    ),
    "resume": Later(
        "cadenza.cli.actions", "Let a paused endpoint go on; a pause of its job stays.", STEER
    ),
    "hint": Later(
        "cadenza.cli.hint", "Bend a schedule for a while: another interval, or one run.", STEER
    ),
    "analyse": Later(
        "cadenza.cli.actions",
        "Ask the planner to look at an endpoint, as soon as it can.",
        STEER,
    ),
    "apply": Later(
        "cadenza.cli.apply",
        "Apply a file of schedules: show the difference, ask, change everything in one "
        "transaction.",
        CODE,
    ),
    "export": Later(
        "cadenza.cli.apply",
        "Write all jobs and endpoints as YAML; applying it changes nothing. Secrets are not in it.",
        CODE,
    ),
    "validate": Later(
        "cadenza.cli.validate",
        "Check a file or a folder of schedules with no server; ends with 1 where one is wrong.",
        CODE,
    ),
    "import": Later("cadenza.cli.import_crontab", "Bring schedules over from elsewhere.", CODE),
    "schema": Later(
        "cadenza.cli.validate",
        "Print the JSON schema of cadenza.yaml; with it an editor completes and checks as you "
        "type.",
        CODE,
    ),
    "rules": Later("cadenza.roots.rules", "Declared rules: tried on answers of the past.", CODE),
    "replay": Later(
        "cadenza.roots.replay",
        "Run a brain, or other rules, over the recorded history, and show what it would have done.",
        CODE,
    ),
    "whoami": Later(
        "cadenza.cli.account", "Say which server, tenant and user the key belongs to.", PEOPLE
    ),
    "keys": Later(
        "cadenza.cli.keys", "API keys: create (shown once), list, rotate, revoke.", PEOPLE
    ),
    "signing-keys": Later(
        "cadenza.cli.keys",
        "Signing keys: receivers verify with them that a call is ours.",
        PEOPLE,
    ),
    "usage": Later(
        "cadenza.cli.account", "Show what the tenant has, and how its runs ended.", PEOPLE
    ),
    "quota": Later(
        "cadenza.cli.account",
        "Show how many tokens, and how much money, are left for analysis this month.",
        PEOPLE,
    ),
    "audit": Later("cadenza.cli.audit", "The audit log: who did what.", PEOPLE),
    "tenants": Later(
        "cadenza.cli.tenants", "Tenants and their users, with the admin's key.", PEOPLE
    ),
    "up": Later(
        "cadenza.roots.up",
        "Run everything on this machine: database, API, workers and a sample service.",
        RUN,
    ),
    "api": Later("cadenza.roots.api", "Serve the REST API.", RUN),
    "scheduler": Later(
        "cadenza.roots.scheduler",
        "Run a scheduler worker: claim what is due, execute it, plan the next run.",
        RUN,
    ),
    "planner": Later(
        "cadenza.roots.planner",
        "Run a planner worker: look at what has run, and advise or act within each owner's limits.",
        RUN,
    ),
    "migrate": Later(
        "cadenza.roots.migrate",
        "Bring the database to the schema of this version; safe while programs run.",
        RUN,
    ),
    "secrets": Later(
        "cadenza.roots.secrets", "The master keys, and the secrets they encrypt.", RUN
    ),
    "settings": Later(
        "cadenza.roots.settings_command",
        "Show every setting: its value, and where that came from.",
        RUN,
    ),
    "demo": Later(
        "cadenza.roots.demo",
        "Watch a schedule tighten, act and relax, and why: a small shop, a rush of visitors.",
        RUN,
    ),
    "sim": Later("cadenza.roots.sim", "Live through a scenario in simulated time.", RUN),
}
