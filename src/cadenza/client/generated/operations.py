"""Every operation of the API.

Made by `python -m tests.client.generate`; do not change it by hand.
"""

from cadenza.client.core import Operation

ACCEPT = Operation(
    "POST", "/sessions/{session_id}/accept", parameters=("session_id",), has_body=True
)
ACKNOWLEDGE_INCIDENT = Operation(
    "POST", "/incidents/{incident_id}/acknowledge", parameters=("incident_id",)
)
ACT_ON_MANY = Operation("POST", "/endpoint-actions", has_body=True)
ACT_ON_MATCHING = Operation("POST", "/endpoint-actions/matching", has_body=True)
ADD_CREDITS = Operation(
    "POST", "/accounts/{account_id}/credits", parameters=("account_id",), has_body=True
)
ANALYSE = Operation("POST", "/endpoints/{endpoint_id}/analyse", parameters=("endpoint_id",))
ANSWER_SCHEDULE_RUN = Operation(
    "POST",
    "/schedules/{schedule_id}/runs/{schedule_run_id}/answer",
    parameters=("schedule_id", "schedule_run_id"),
    has_body=True,
)
APPLY_MANIFEST = Operation("PUT", "/manifest", query=("dry_run", "prune"), has_body=True)
ARCHIVE_ENDPOINT = Operation(
    "POST", "/endpoints/{endpoint_id}/archive", parameters=("endpoint_id",)
)
ARCHIVE_JOB = Operation("POST", "/jobs/{job_id}/archive", parameters=("job_id",))
CANCEL_SCHEDULE_RUN = Operation(
    "POST",
    "/schedules/{schedule_id}/runs/{schedule_run_id}/cancel",
    parameters=("schedule_id", "schedule_run_id"),
)
CHANGE_CHANNEL = Operation(
    "PATCH", "/notifications/channels/{channel_id}", parameters=("channel_id",), has_body=True
)
CHANGE_ENDPOINT = Operation(
    "PATCH", "/endpoints/{endpoint_id}", parameters=("endpoint_id",), has_body=True
)
CHANGE_JOB = Operation("PATCH", "/jobs/{job_id}", parameters=("job_id",), has_body=True)
CHANGE_OWN_TENANT = Operation("PATCH", "/tenant", has_body=True)
CHANGE_ROLE = Operation("PUT", "/people/{user_id}/role", parameters=("user_id",), has_body=True)
CHANGE_ROUTE = Operation(
    "PATCH", "/notifications/routes/{route_id}", parameters=("route_id",), has_body=True
)
CHANGE_SCHEDULE = Operation(
    "PATCH", "/schedules/{schedule_id}", parameters=("schedule_id",), has_body=True
)
CHANGE_WEBHOOK = Operation(
    "PATCH", "/webhooks/{webhook_id}", parameters=("webhook_id",), has_body=True
)
CLEAR_HINTS = Operation("DELETE", "/endpoints/{endpoint_id}/hints", parameters=("endpoint_id",))
COUNT_MATCHING = Operation("GET", "/endpoint-actions/matching", query=("job_id", "search", "state"))
CREATE_ACCOUNT = Operation("POST", "/accounts", has_body=True, takes_key=True)
CREATE_CHANNEL = Operation("POST", "/notifications/channels", has_body=True, takes_key=True)
CREATE_ENDPOINT = Operation(
    "POST", "/jobs/{job_id}/endpoints", parameters=("job_id",), has_body=True, takes_key=True
)
CREATE_GRANT = Operation("POST", "/grants", has_body=True, takes_key=True)
CREATE_INVITATION = Operation("POST", "/invitations", has_body=True)
CREATE_JOB = Operation("POST", "/jobs", has_body=True, takes_key=True)
CREATE_KEY = Operation("POST", "/keys", has_body=True, takes_key=True)
CREATE_KEY_FOR_USER = Operation(
    "POST",
    "/tenants/{tenant_id}/users/{user_id}/keys",
    parameters=("tenant_id", "user_id"),
    has_body=True,
)
CREATE_KEY_OF_JOB = Operation(
    "POST", "/jobs/{job_id}/keys", parameters=("job_id",), has_body=True, takes_key=True
)
CREATE_ROUTE = Operation("POST", "/notifications/routes", has_body=True, takes_key=True)
CREATE_SCHEDULE = Operation("POST", "/schedules", has_body=True, takes_key=True)
CREATE_SIGN_IN_LINK = Operation("POST", "/sign-in-links")
CREATE_SIGNING_KEY = Operation("POST", "/signing-keys", has_body=True)
CREATE_TENANT = Operation("POST", "/tenants", has_body=True, takes_key=True)
CREATE_USER = Operation(
    "POST", "/tenants/{tenant_id}/users", parameters=("tenant_id",), has_body=True, takes_key=True
)
CREATE_VIRTUAL_KEY = Operation(
    "POST", "/accounts/{account_id}/keys", parameters=("account_id",), has_body=True, takes_key=True
)
CREATE_WEBHOOK = Operation("POST", "/webhooks", has_body=True, takes_key=True)
DELETE_CHANNEL = Operation(
    "DELETE", "/notifications/channels/{channel_id}", parameters=("channel_id",)
)
DELETE_ENDPOINT = Operation(
    "DELETE", "/endpoints/{endpoint_id}", parameters=("endpoint_id",), query=("dry_run",)
)
DELETE_JOB = Operation("DELETE", "/jobs/{job_id}", parameters=("job_id",), query=("dry_run",))
DELETE_ROUTE = Operation("DELETE", "/notifications/routes/{route_id}", parameters=("route_id",))
DELETE_SCHEDULE = Operation("DELETE", "/schedules/{schedule_id}", parameters=("schedule_id",))
DELETE_TENANT = Operation(
    "DELETE", "/tenants/{tenant_id}", parameters=("tenant_id",), query=("confirm",)
)
DELETE_USER = Operation(
    "DELETE", "/tenants/{tenant_id}/users/{user_id}", parameters=("tenant_id", "user_id")
)
DELETE_WEBHOOK = Operation("DELETE", "/webhooks/{webhook_id}", parameters=("webhook_id",))
DISMISS = Operation(
    "POST", "/sessions/{session_id}/dismiss", parameters=("session_id",), has_body=True
)
EXPLAIN_NEXT_RUN = Operation("GET", "/endpoints/{endpoint_id}/explain", parameters=("endpoint_id",))
EXPORT_MANIFEST = Operation("GET", "/manifest")
GET_ACCOUNT = Operation("GET", "/accounts/{account_id}", parameters=("account_id",))
GET_ACCOUNT_USAGE = Operation(
    "GET",
    "/accounts/{account_id}/usage",
    parameters=("account_id",),
    query=("group_by", "from", "to"),
)
GET_ACTIVITY = Operation(
    "GET", "/activity", query=("from", "to", "buckets", "job_id", "endpoint_id")
)
GET_DELIVERY = Operation("GET", "/deliveries/{delivery_id}", parameters=("delivery_id",))
GET_ENDPOINT = Operation("GET", "/endpoints/{endpoint_id}", parameters=("endpoint_id",))
GET_GRANT = Operation("GET", "/grants/{grant_id}", parameters=("grant_id",))
GET_HEALTH = Operation("GET", "/endpoints/{endpoint_id}/health", parameters=("endpoint_id",))
GET_INCIDENT = Operation("GET", "/incidents/{incident_id}", parameters=("incident_id",))
GET_JOB = Operation("GET", "/jobs/{job_id}", parameters=("job_id",))
GET_JOB_STRIPS = Operation("GET", "/activity/jobs", query=("job_id",))
GET_OWN_TENANT = Operation("GET", "/tenant")
GET_PLANNER = Operation("GET", "/planner")
GET_PLANNER_DAYS = Operation("GET", "/activity/planner", query=("days",))
GET_QUOTA = Operation("GET", "/tenant/quota")
GET_QUOTA_OF_JOB = Operation("GET", "/jobs/{job_id}/quota", parameters=("job_id",))
GET_RUN = Operation("GET", "/runs/{run_id}", parameters=("run_id",))
GET_SCHEDULE = Operation("GET", "/schedules/{schedule_id}", parameters=("schedule_id",))
GET_SCHEDULE_RUN = Operation(
    "GET",
    "/schedules/{schedule_id}/runs/{schedule_run_id}",
    parameters=("schedule_id", "schedule_run_id"),
)
GET_SCORE = Operation(
    "GET",
    "/jobs/{job_id}/score",
    parameters=("job_id",),
    query=("from", "to", "lanes", "endpoint", "runs", "cursor", "value", "fields"),
)
GET_SESSION = Operation("GET", "/sessions/{session_id}", parameters=("session_id",))
GET_STATES = Operation("GET", "/activity/states", query=("job_id",))
GET_TENANT = Operation("GET", "/tenants/{tenant_id}", parameters=("tenant_id",))
GET_TIMELINE = Operation(
    "GET",
    "/jobs/{job_id}/timeline",
    parameters=("job_id",),
    query=("from", "to", "limit", "cursor"),
)
GET_USAGE = Operation("GET", "/tenant/usage")
GET_VALUES = Operation(
    "GET",
    "/endpoints/{endpoint_id}/values",
    parameters=("endpoint_id",),
    query=("field", "from", "to"),
)
GIVE_ROLE_FOR_JOB = Operation(
    "PUT", "/jobs/{job_id}/people/{user_id}", parameters=("job_id", "user_id"), has_body=True
)
HEALTHZ = Operation("GET", "//healthz")
HINT_INTERVAL = Operation(
    "POST", "/endpoints/{endpoint_id}/hints/interval", parameters=("endpoint_id",), has_body=True
)
HINT_ONE_SHOT = Operation(
    "POST", "/endpoints/{endpoint_id}/hints/one-shot", parameters=("endpoint_id",), has_body=True
)
INVITE_TO_JOB = Operation(
    "POST", "/jobs/{job_id}/invitations", parameters=("job_id",), has_body=True
)
JUDGE_RULES = Operation("GET", "/endpoints/{endpoint_id}/rules", parameters=("endpoint_id",))
LIST_ACCOUNTS = Operation("GET", "/accounts", query=("name", "limit", "cursor"))
LIST_ANALYSES = Operation("GET", "/endpoints/{endpoint_id}/analyses", parameters=("endpoint_id",))
LIST_AUDIT = Operation(
    "GET", "/audit", query=("actor", "action", "subject", "from", "to", "limit", "cursor")
)
LIST_CHANNELS = Operation("GET", "/notifications/channels")
LIST_DELIVERIES = Operation(
    "GET", "/deliveries", query=("channel_id", "webhook_id", "status", "limit", "cursor")
)
LIST_ENDPOINTS = Operation(
    "GET", "/endpoints", query=("job_id", "name", "search", "state", "sort", "limit", "cursor")
)
LIST_GRANTS = Operation("GET", "/grants", query=("limit", "cursor"))
LIST_GRAPHS = Operation("GET", "/graphs", query=("graph_id", "limit", "cursor"))
LIST_IDS = Operation("GET", "/ids", query=("kind", "begins"))
LIST_INCIDENTS = Operation("GET", "/incidents", query=("open", "kind", "job_id", "limit", "cursor"))
LIST_INVITATIONS = Operation("GET", "/invitations")
LIST_INVITATIONS_TO_JOB = Operation("GET", "/jobs/{job_id}/invitations", parameters=("job_id",))
LIST_JOBS = Operation("GET", "/jobs", query=("name", "search", "archived", "limit", "cursor"))
LIST_KEYS = Operation("GET", "/keys")
LIST_KEYS_OF_JOB = Operation("GET", "/jobs/{job_id}/keys", parameters=("job_id",))
LIST_LEDGER = Operation(
    "GET", "/accounts/{account_id}/ledger", parameters=("account_id",), query=("limit", "cursor")
)
LIST_PEOPLE = Operation("GET", "/people")
LIST_PEOPLE_OF_JOB = Operation("GET", "/jobs/{job_id}/people", parameters=("job_id",))
LIST_ROUTES = Operation("GET", "/notifications/routes")
LIST_RUNS = Operation(
    "GET",
    "/runs",
    query=(
        "endpoint_id",
        "job_id",
        "status",
        "source",
        "is_manual",
        "error",
        "status_code",
        "from",
        "to",
        "limit",
        "cursor",
    ),
)
LIST_SCHEDULE_RUN_EVENTS = Operation(
    "GET",
    "/schedules/{schedule_id}/runs/{schedule_run_id}/events",
    parameters=("schedule_id", "schedule_run_id"),
    query=("after", "limit"),
)
LIST_SCHEDULE_RUNS = Operation(
    "GET", "/schedules/{schedule_id}/runs", parameters=("schedule_id",), query=("limit", "cursor")
)
LIST_SCHEDULES = Operation("GET", "/schedules", query=("name", "limit", "cursor"))
LIST_SESSIONS = Operation(
    "GET",
    "/sessions",
    query=("endpoint_id", "job_id", "brain", "search", "from", "to", "limit", "cursor"),
)
LIST_SIGNING_KEYS = Operation("GET", "/signing-keys")
LIST_STEERING = Operation(
    "GET",
    "/endpoints/{endpoint_id}/steering",
    parameters=("endpoint_id",),
    query=("from", "to", "limit", "cursor"),
)
LIST_SUGGESTIONS = Operation("GET", "/suggestions", query=("limit",))
LIST_TENANTS = Operation("GET", "/tenants", query=("limit", "cursor"))
LIST_USERS = Operation("GET", "/users")
LIST_USERS_OF_TENANT = Operation("GET", "/tenants/{tenant_id}/users", parameters=("tenant_id",))
LIST_VIRTUAL_KEYS = Operation("GET", "/accounts/{account_id}/keys", parameters=("account_id",))
LIST_WEBHOOKS = Operation("GET", "/webhooks")
LIST_WORKERS = Operation("GET", "/workers", query=("limit",))
ME = Operation("GET", "/me")
PAUSE = Operation(
    "POST", "/endpoints/{endpoint_id}/pause", parameters=("endpoint_id",), has_body=True
)
PAUSE_JOB = Operation("POST", "/jobs/{job_id}/pause", parameters=("job_id",), has_body=True)
PREVIEW = Operation(
    "GET", "/endpoints/{endpoint_id}/preview", parameters=("endpoint_id",), query=("count",)
)
PREVIEW_DRAFT = Operation("POST", "/preview", query=("count",), has_body=True)
READYZ = Operation("GET", "//readyz")
REMOVE_PERSON = Operation("DELETE", "/people/{user_id}", parameters=("user_id",))
REPORT_RESULT = Operation("POST", "/runs/{run_id}/result", parameters=("run_id",), has_body=True)
RESEND_DELIVERY = Operation("POST", "/deliveries/{delivery_id}/resend", parameters=("delivery_id",))
RESET_FAILURES = Operation(
    "POST", "/endpoints/{endpoint_id}/reset-failures", parameters=("endpoint_id",)
)
RESOLVE_INCIDENT = Operation(
    "POST", "/incidents/{incident_id}/resolve", parameters=("incident_id",)
)
RESTORE = Operation(
    "POST", "/sessions/{session_id}/restore", parameters=("session_id",), has_body=True
)
RESTORE_ENDPOINT = Operation(
    "POST", "/endpoints/{endpoint_id}/restore", parameters=("endpoint_id",)
)
RESTORE_JOB = Operation("POST", "/jobs/{job_id}/restore", parameters=("job_id",))
RESUME = Operation("POST", "/endpoints/{endpoint_id}/resume", parameters=("endpoint_id",))
RESUME_JOB = Operation("POST", "/jobs/{job_id}/resume", parameters=("job_id",))
REVOKE_GRANT = Operation("POST", "/grants/{grant_id}/revoke", parameters=("grant_id",))
REVOKE_INVITATION = Operation(
    "DELETE", "/invitations/{invitation_id}", parameters=("invitation_id",)
)
REVOKE_INVITATION_TO_JOB = Operation(
    "DELETE",
    "/jobs/{job_id}/invitations/{job_invitation_id}",
    parameters=("job_id", "job_invitation_id"),
)
REVOKE_KEY = Operation("DELETE", "/keys/{key_id}", parameters=("key_id",))
REVOKE_KEY_OF_JOB = Operation(
    "DELETE", "/jobs/{job_id}/keys/{job_key_id}", parameters=("job_id", "job_key_id")
)
REVOKE_VIRTUAL_KEY = Operation(
    "DELETE",
    "/accounts/{account_id}/keys/{virtual_key_id}",
    parameters=("account_id", "virtual_key_id"),
)
ROTATE_KEY = Operation("POST", "/keys/{key_id}/rotate", parameters=("key_id",), has_body=True)
RUN_NOW = Operation("POST", "/endpoints/{endpoint_id}/run", parameters=("endpoint_id",))
RUN_SCHEDULE = Operation("POST", "/schedules/{schedule_id}/run", parameters=("schedule_id",))
RUNS_OF_SESSION = Operation(
    "GET", "/sessions/{session_id}/runs", parameters=("session_id",), query=("limit",)
)
SEARCH = Operation("GET", "/search", query=("q", "limit"))
SET_DEFAULT_KEY = Operation(
    "POST",
    "/accounts/{account_id}/keys/{virtual_key_id}/default",
    parameters=("account_id", "virtual_key_id"),
)
START_EVERY_PLANNER = Operation("POST", "/installation/planner/start")
START_PLANNER = Operation("POST", "/planner/start")
STOP_EVERY_PLANNER = Operation("POST", "/installation/planner/stop", has_body=True)
STOP_PLANNER = Operation("POST", "/planner/stop", has_body=True)
TAKE_ROLE_FOR_JOB = Operation(
    "DELETE", "/jobs/{job_id}/people/{user_id}", parameters=("job_id", "user_id")
)
TEST_CHANNEL = Operation(
    "POST", "/notifications/channels/{channel_id}/test", parameters=("channel_id",)
)
TEST_ENDPOINT = Operation("POST", "/endpoints/{endpoint_id}/test", parameters=("endpoint_id",))
TEST_WEBHOOK = Operation("POST", "/webhooks/{webhook_id}/test", parameters=("webhook_id",))
VERIFY_LEDGER = Operation("GET", "/accounts/{account_id}/ledger/verify", parameters=("account_id",))
