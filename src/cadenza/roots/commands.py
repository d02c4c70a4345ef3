"""Every command by its panel: the module it is in, and what help says before that is loaded."""

from cadenza.cli.lazy import Later

_PANELS = {
    "Jobs and runs": {
        "jobs": ("cli.jobs_and_endpoints", "Jobs: a description in plain words, and endpoints."),
        "endpoints": (
            "cli.jobs_and_endpoints",
            "Endpoints: what is called, when, and within which limits.",
        ),
        "runs": ("cli.runs", "Runs: what ran, how it ended, and why it ran then."),
        "sessions": ("cli.sessions", "Sessions: what the planner did or wanted, and why."),
        "status": (
            "cli.status",
            "Show what fails, is late, paused or bent right now, since when, and why.",
        ),
        "tail": (
            "cli.tail",
            "Follow what happens: finished runs, actions of people and of the planner. Ctrl-C "
            "ends it.",
        ),
        "explain": (
            "cli.outlook",
            "Say why an endpoint runs next when it does, and what would change it.",
        ),
        "preview": (
            "cli.outlook",
            "Show the next runs, with the hints of now beside the plain baseline.",
        ),
    },
    "Steering by hand": {
        "run": ("cli.actions", "Run an endpoint now, whatever its min and its pauses say."),
        "test": (
            "cli.actions",
            "Call an endpoint's target once; it is no run and counts for nothing. Ends with 1 "
            "if it fails.",
        ),
        "pause": ("cli.actions", "Hold an endpoint back, until an instant or until it is resumed."),
        "resume": ("cli.actions", "Let a paused endpoint go on; a pause of its job stays."),
        "hint": ("cli.actions", "Bend a schedule for a while: another interval, or one run."),
        "analyse": ("cli.actions", "Ask the planner to look at an endpoint, as soon as it can."),
    },
    "Schedules as code": {
        "apply": (
            "cli.apply",
            "Apply a file of schedules: show the difference, ask, change everything in one "
            "transaction.",
        ),
        "export": (
            "cli.apply",
            "Write jobs, endpoints and schedules as YAML; applying it changes nothing. No secret "
            "is in it.",
        ),
        "validate": (
            "cli.validate",
            "Check a file or a folder of schedules with no server; ends with 1 where one is wrong.",
        ),
        "import": ("cli.import_crontab", "Bring schedules over from elsewhere."),
        "schema": (
            "cli.validate",
            "Print the JSON schema of cadenza.yaml; with it an editor completes and checks as "
            "you type.",
        ),
        "rules": ("roots.rules", "Declared rules: tried on answers of the past."),
        "replay": (
            "roots.replay",
            "Run a brain, or other rules, over the recorded history, and show what it would "
            "have done.",
        ),
    },
    "People and keys": {
        "dashboard": (
            "cli.account",
            "Print a link that opens the dashboard, signed in; it works once, for a minute.",
        ),
        "whoami": ("cli.account", "Say which server, tenant and user the key belongs to."),
        "keys": ("cli.keys", "API keys: create (shown once), list, rotate, revoke."),
        "signing-keys": (
            "cli.keys",
            "Signing keys: receivers verify with them that a call is ours.",
        ),
        "usage": ("cli.account", "Show what the tenant has, and how its runs ended."),
        "quota": (
            "cli.account",
            "Show how many tokens, and how much money, are left for analysis this month.",
        ),
        "audit": ("cli.account", "The audit log: who did what."),
        "tenants": ("cli.tenants", "Tenants and their users, with the admin's key."),
    },
    "AI graphs": {
        "graphs": (
            "cli.graphs",
            "Graphs: what graph workers can run, and what is wrong with one.",
        ),
        "schedules": (
            "cli.schedules",
            "Schedules of AI graphs: when one runs, and what became of its runs.",
        ),
        "accounts": (
            "cli.accounts",
            "Accounts that pay for models: credits, usage, and provider keys.",
        ),
        "grants": (
            "cli.grants",
            "Grants: let scheduled graphs run on your behalf, at an account's cost.",
        ),
        "ledger": ("cli.accounts", "The ledger of accounts: proven to come to their balances."),
    },
    "Programs": {
        "up": (
            "roots.up",
            "Run everything on this machine: database, API, workers and a sample service.",
        ),
        "api": ("roots.api", "Serve the REST API."),
        "scheduler": (
            "roots.scheduler",
            "Run a scheduler worker: claim what is due, execute it, plan the next run.",
        ),
        "planner": (
            "roots.planner",
            "Run a planner worker: look at what has run, and advise or act within each owner's "
            "limits.",
        ),
        "graph-worker": (
            "roots.graph_worker",
            "Run a graph worker: start AI graphs at their slots, and those that endpoints call.",
        ),
        "migrate": (
            "roots.migrate",
            "Bring the database to the schema of this version; safe while programs run.",
        ),
        "secrets": ("roots.secrets", "The master keys, and the secrets they encrypt."),
        "doctor": (
            "roots.doctor",
            "Look for what is wrong: server, database, clock, disk, networks, workers, settings.",
        ),
        "settings": (
            "roots.settings_command",
            "Show every setting: its value, and where that came from.",
        ),
        "demo": (
            "roots.demo",
            "Watch a schedule tighten, act and relax, and why: a small shop, a rush of visitors.",
        ),
        "sim": ("roots.sim", "Live through a scenario in simulated time."),
    },
}
COMMANDS = {
    name: Later(f"cadenza.{module}", about, panel)
    for panel, commands in _PANELS.items()
    for name, (module, about) in commands.items()
}
