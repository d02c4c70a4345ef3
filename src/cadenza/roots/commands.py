"""Every command by its panel: the module it is in, and what help says before that is loaded.

One table, though it is longer than other files here: help shows it from top to bottom.
"""

from cadenza.cli.lazy import Later

_PANELS = {
    "Jobs and runs": {
        "jobs": ("cli.jobs_and_endpoints", "Manage jobs: a description and a set of endpoints."),
        "endpoints": (
            "cli.jobs_and_endpoints",
            "Manage endpoints: what to call, when, and within which limits.",
        ),
        "runs": ("cli.runs", "List runs, and see why each one ran."),
        "sessions": ("cli.sessions", "List planner sessions and accept suggestions."),
        "status": (
            "cli.status",
            "Show what is failing, late, paused or hinted right now, and why.",
        ),
        "tail": (
            "cli.tail",
            "Follow finished runs and changes as they happen. Ctrl-C to stop.",
        ),
        "explain": (
            "cli.outlook",
            "Explain when an endpoint runs next, why, and what would change it.",
        ),
        "preview": (
            "cli.outlook",
            "Preview the next runs, with and without the current hints.",
        ),
    },
    "Manual control": {
        "run": (
            "cli.actions",
            "Run an endpoint now, regardless of pauses and its minimum interval.",
        ),
        "test": (
            "cli.actions",
            "Call an endpoint's target once, without recording a run. Exits 1 on failure.",
        ),
        "pause": ("cli.actions", "Pause an endpoint, until a given time or until resumed."),
        "resume": ("cli.actions", "Resume a paused endpoint. A pause of its job still applies."),
        "hint": (
            "cli.actions",
            "Change a schedule for a while: another interval, or one extra run.",
        ),
        "analyse": ("cli.actions", "Ask the planner to analyse an endpoint as soon as possible."),
    },
    "Schedules as code": {
        "apply": (
            "cli.apply",
            "Apply schedule files: show the changes, confirm, apply in one transaction.",
        ),
        "export": (
            "cli.apply",
            "Export jobs, endpoints and schedules as YAML, without secrets.",
        ),
        "validate": (
            "cli.validate",
            "Check schedule files, without a server. Exits 1 if any is invalid.",
        ),
        "import": ("cli.import_crontab", "Import schedules from a crontab."),
        "schema": (
            "cli.validate",
            "Print the JSON schema of cadenza.yaml, for completion in editors.",
        ),
        "rules": ("roots.rules", "Test declared rules on recorded responses."),
        "replay": (
            "roots.replay",
            "Replay recorded history through a brain or other rules. Changes nothing.",
        ),
    },
    "Notifications": {
        "incidents": (
            "cli.incidents",
            "List, acknowledge and resolve incidents.",
        ),
        "notify": ("cli.notify", "Manage notification channels and routes."),
        "webhooks": (
            "cli.webhooks",
            "Manage outbound webhooks and their deliveries.",
        ),
    },
    "People and keys": {
        "dashboard": (
            "cli.account",
            "Print a one-time link that signs you in to the dashboard. Valid for a minute.",
        ),
        "whoami": ("cli.account", "Show the server, tenant and user of the current key."),
        "people": ("cli.people", "Manage members: invite, assign roles, remove."),
        "keys": ("cli.keys", "Manage API keys."),
        "signing-keys": (
            "cli.keys",
            "Manage the keys that sign requests, for receivers to verify.",
        ),
        "usage": ("cli.account", "Show the tenant's size and recent run results."),
        "quota": (
            "cli.account",
            "Show the tokens and money left for the planner this month.",
        ),
        "audit": ("cli.account", "Search and export the audit log."),
        "tenants": (
            "cli.tenants",
            "Manage tenants and their users. Needs the installation's admin key.",
        ),
    },
    "AI graphs": {
        "graphs": (
            "cli.graphs",
            "List the AI graphs that workers can run.",
        ),
        "schedules": (
            "cli.schedules",
            "Manage schedules of AI graphs, and their runs.",
        ),
        "accounts": (
            "cli.accounts",
            "Manage accounts that pay for model calls.",
        ),
        "grants": (
            "cli.grants",
            "Manage grants: permission for graphs to run on your behalf.",
        ),
        "ledger": ("cli.accounts", "Check account balances against their ledgers."),
    },
    "Run and operate": {
        "up": (
            "roots.up",
            "Run everything on this machine: database, API, workers and a sample service.",
        ),
        "api": ("roots.api", "Serve the REST API and the dashboard."),
        "mcp": (
            "roots.mcp",
            "Serve MCP tools for an assistant over stdin and stdout.",
        ),
        "scheduler": (
            "roots.scheduler",
            "Run a scheduler worker: execute due runs and plan the next ones.",
        ),
        "planner": (
            "roots.planner",
            "Run a planner worker: analyse runs, and suggest or make schedule changes.",
        ),
        "graph-worker": (
            "roots.graph_worker",
            "Run a graph worker: run AI graphs for schedules and endpoints.",
        ),
        "notifier": (
            "roots.notifier",
            "Run a notifier: detect incidents, send notifications and webhooks.",
        ),
        "migrate": (
            "roots.migrate",
            "Migrate the database schema. Safe while programs are running.",
        ),
        "backup": (
            "roots.backups",
            "Back up the database to a file. Safe while programs are running.",
        ),
        "restore": (
            "roots.backups",
            "Restore a backup. Stop all programs first.",
        ),
        "secrets": ("roots.secrets", "Show and rotate the master keys that encrypt secrets."),
        "doctor": (
            "roots.doctor",
            "Check the installation for problems, and show how to fix each.",
        ),
        "settings": (
            "roots.settings_command",
            "Show every setting, its value and where it comes from.",
        ),
        "demo": (
            "roots.demo",
            "Watch a live demo: schedules adapt to a rush of visitors.",
        ),
        "sim": ("roots.sim", "Run a scenario in simulated time."),
    },
}
COMMANDS = {
    name: Later(f"cadenza.{module}", about, panel)
    for panel, commands in _PANELS.items()
    for name, (module, about) in commands.items()
}
