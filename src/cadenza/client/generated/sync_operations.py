"""Every operation of the API as a method, without a loop.

Made by `python -m tests.client.generate`; do not change it by hand.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typing_extensions import Unpack

from cadenza.client.core import Operation
from cadenza.client.generated import operations, types


class SyncOperations:
    @abstractmethod
    def _call(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Any: ...

    @abstractmethod
    def _pages(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Iterator[Any]: ...

    def accept(
        self, session_id: str, /, **fields: Unpack[types.AcceptBody]
    ) -> types.AcceptedSuggestionResponse:
        """Do what was suggested, within the planner's bounds; 409 where it was accepted before."""
        return self._call(operations.ACCEPT, (session_id,), fields)

    def acknowledge_incident(self, incident_id: str, /) -> types.IncidentResponse:
        """Somebody is at it: no more is told of it unless it gets worse, or is over."""
        return self._call(operations.ACKNOWLEDGE_INCIDENT, (incident_id,), {})

    def act_on_many(self, **fields: Unpack[types.BulkBody]) -> types.BulkResponse:
        """Pause, resume, clear the hints or reset the failures of up to 1,000 endpoints: all that can be done, in one transaction, and what became of each."""
        return self._call(operations.ACT_ON_MANY, (), fields)

    def act_on_matching(self, **fields: Unpack[types.MatchingBody]) -> types.MatchingResponse:
        """The same on every endpoint that fits, up to 10,000, a transaction for every thousand."""
        return self._call(operations.ACT_ON_MATCHING, (), fields)

    def add_credits(
        self, account: str, /, **fields: Unpack[types.CreditsBody]
    ) -> types.LedgerEntryResponse:
        """Add credits, or take some away; the same reference counts once."""
        return self._call(operations.ADD_CREDITS, (account,), fields)

    def analyse(self, endpoint: str, /) -> types.RequestedAnalysisResponse:
        """Ask the planner for an analysis, as soon as it can."""
        return self._call(operations.ANALYSE, (endpoint,), {})

    def answer_schedule_run(
        self, schedule: str, schedule_run_id: str, /, **fields: Unpack[types.AnswerBody]
    ) -> types.SlotResponse:
        """What the run waits for; it goes on as a new run of the same schedule, once."""
        return self._call(operations.ANSWER_SCHEDULE_RUN, (schedule, schedule_run_id), fields)

    def apply_manifest(
        self, **fields: Unpack[types.ApplyManifestFields]
    ) -> types.AppliedManifestResponse:
        """All of it, or, where anything is wrong, nothing."""
        return self._call(operations.APPLY_MANIFEST, (), fields)

    def archive_endpoint(self, endpoint: str, /) -> types.EndpointResponse:
        """Its end; its history stays."""
        return self._call(operations.ARCHIVE_ENDPOINT, (endpoint,), {})

    def archive_job(
        self, job: str, /, **fields: Unpack[types.ArchiveJobFields]
    ) -> types.JobResponse:
        """The end of a job and of its endpoints; their history stays."""
        return self._call(operations.ARCHIVE_JOB, (job,), fields)

    def cancel_schedule_run(
        self, schedule: str, schedule_run_id: str, /
    ) -> types.ScheduleRunResponse:
        """It ends now, and its worker is told; what it has cost stays charged."""
        return self._call(operations.CANCEL_SCHEDULE_RUN, (schedule, schedule_run_id), {})

    def change_channel(
        self, channel_id: str, /, **fields: Unpack[types.ChannelPatchBody]
    ) -> types.ChannelResponse:
        """Fields that are left out stay."""
        return self._call(operations.CHANGE_CHANNEL, (channel_id,), fields)

    def change_endpoint(
        self, endpoint: str, /, **fields: Unpack[types.ChangeEndpointFields]
    ) -> types.EndpointDetailResponse:
        return self._call(operations.CHANGE_ENDPOINT, (endpoint,), fields)

    def change_job(
        self, job: str, /, **fields: Unpack[types.ChangeJobFields]
    ) -> types.ChangedJobResponse:
        return self._call(operations.CHANGE_JOB, (job,), fields)

    def change_own_tenant(self, **fields: Unpack[types.TenantPatchBody]) -> types.TenantResponse:
        return self._call(operations.CHANGE_OWN_TENANT, (), fields)

    def change_role(
        self, user_id: str, /, **fields: Unpack[types.AccessBody]
    ) -> types.PersonResponse:
        """In place of all roles that they had; it counts at once."""
        return self._call(operations.CHANGE_ROLE, (user_id,), fields)

    def change_route(
        self, route_id: str, /, **fields: Unpack[types.RoutePatchBody]
    ) -> types.RouteResponse:
        """Fields that are left out stay."""
        return self._call(operations.CHANGE_ROUTE, (route_id,), fields)

    def change_schedule(
        self, schedule: str, /, **fields: Unpack[types.ChangeScheduleFields]
    ) -> types.ScheduleDetailResponse:
        """The slot that waits changes with it; a run under way goes on as it was."""
        return self._call(operations.CHANGE_SCHEDULE, (schedule,), fields)

    def change_webhook(
        self, webhook_id: str, /, **fields: Unpack[types.WebhookPatchBody]
    ) -> types.WebhookResponse:
        """Fields that are left out stay."""
        return self._call(operations.CHANGE_WEBHOOK, (webhook_id,), fields)

    def clear_hints(self, endpoint: str, /) -> types.EndpointResponse:
        """Drop both hints; the baseline returns at once."""
        return self._call(operations.CLEAR_HINTS, (endpoint,), {})

    def count_matching(
        self, **fields: Unpack[types.CountMatchingFields]
    ) -> types.MatchingCountResponse:
        """How many endpoints fit, and how many an action may be for at most."""
        return self._call(operations.COUNT_MATCHING, (), fields)

    def create_account(self, **fields: Unpack[types.CreateAccountFields]) -> types.AccountResponse:
        """It begins with no credits."""
        return self._call(operations.CREATE_ACCOUNT, (), fields)

    def create_channel(self, **fields: Unpack[types.CreateChannelFields]) -> types.ChannelResponse:
        """The URL is checked, but nothing is sent: `test` does that."""
        return self._call(operations.CREATE_CHANNEL, (), fields)

    def create_endpoint(
        self, job: str, /, **fields: Unpack[types.CreateEndpointFields]
    ) -> types.EndpointDetailResponse:
        return self._call(operations.CREATE_ENDPOINT, (job,), fields)

    def create_grant(self, **fields: Unpack[types.CreateGrantFields]) -> types.GrantResponse:
        """In your own name."""
        return self._call(operations.CREATE_GRANT, (), fields)

    def create_invitation(
        self, **fields: Unpack[types.InvitationBody]
    ) -> types.CreatedInvitationResponse:
        """Nothing is sent: give the link to whom you invite."""
        return self._call(operations.CREATE_INVITATION, (), fields)

    def create_job(self, **fields: Unpack[types.CreateJobFields]) -> types.JobResponse:
        return self._call(operations.CREATE_JOB, (), fields)

    def create_key(self, **fields: Unpack[types.CreateKeyFields]) -> types.CreatedKeyResponse:
        """The key itself is in this answer, and never again."""
        return self._call(operations.CREATE_KEY, (), fields)

    def create_key_for_user(
        self, tenant_id: str, user_id: str, /, **fields: Unpack[types.FirstKeyBody]
    ) -> types.CreatedKeyResponse:
        """The key itself is in this answer, and never again."""
        return self._call(operations.CREATE_KEY_FOR_USER, (tenant_id, user_id), fields)

    def create_key_of_job(
        self, job: str, /, **fields: Unpack[types.CreateKeyOfJobFields]
    ) -> types.CreatedKeyResponse:
        """For this job and nothing else, `read` or `operate`; it acts for you."""
        return self._call(operations.CREATE_KEY_OF_JOB, (job,), fields)

    def create_route(self, **fields: Unpack[types.CreateRouteFields]) -> types.RouteResponse:
        """Which incidents a channel is told of, and when not."""
        return self._call(operations.CREATE_ROUTE, (), fields)

    def create_schedule(
        self, **fields: Unpack[types.CreateScheduleFields]
    ) -> types.ScheduleDetailResponse:
        """With its grant and its first slot, in one transaction."""
        return self._call(operations.CREATE_SCHEDULE, (), fields)

    def create_sign_in_link(self) -> types.SignInLinkResponse:
        """Who opens it is signed in as you, with the scopes of this key."""
        return self._call(operations.CREATE_SIGN_IN_LINK, (), {})

    def create_signing_key(
        self, **fields: Unpack[types.SigningKeyBody]
    ) -> types.CreatedSigningKeyResponse:
        """A new key signs at once; workers take it up within a few seconds."""
        return self._call(operations.CREATE_SIGNING_KEY, (), fields)

    def create_tenant(self, **fields: Unpack[types.CreateTenantFields]) -> types.TenantResponse:
        return self._call(operations.CREATE_TENANT, (), fields)

    def create_user(
        self, tenant_id: str, /, **fields: Unpack[types.CreateUserFields]
    ) -> types.UserResponse:
        return self._call(operations.CREATE_USER, (tenant_id,), fields)

    def create_virtual_key(
        self, account: str, /, **fields: Unpack[types.CreateVirtualKeyFields]
    ) -> types.VirtualKeyResponse:
        """How the account reaches a provider."""
        return self._call(operations.CREATE_VIRTUAL_KEY, (account,), fields)

    def create_webhook(self, **fields: Unpack[types.CreateWebhookFields]) -> types.WebhookResponse:
        """Events from now on, signed with the tenant's signing key."""
        return self._call(operations.CREATE_WEBHOOK, (), fields)

    def delete_channel(self, channel_id: str, /) -> types.ChannelResponse:
        """With its routes; what waits for it is not sent."""
        return self._call(operations.DELETE_CHANNEL, (channel_id,), {})

    def delete_endpoint(
        self, endpoint: str, /, **fields: Unpack[types.DeleteEndpointFields]
    ) -> types.RemovalResponse:
        """For good, with its runs and sessions; only what is archived."""
        return self._call(operations.DELETE_ENDPOINT, (endpoint,), fields)

    def delete_job(
        self, job: str, /, **fields: Unpack[types.DeleteJobFields]
    ) -> types.RemovalResponse:
        """For good, with its endpoints, their runs and sessions; only what is archived."""
        return self._call(operations.DELETE_JOB, (job,), fields)

    def delete_route(self, route_id: str, /) -> types.RouteResponse:
        return self._call(operations.DELETE_ROUTE, (route_id,), {})

    def delete_schedule(
        self, schedule: str, /, **fields: Unpack[types.DeleteScheduleFields]
    ) -> None:
        """Its history stays; the grant that was made for it is revoked."""
        return self._call(operations.DELETE_SCHEDULE, (schedule,), fields)

    def delete_tenant(
        self, tenant_id: str, /, **fields: Unpack[types.DeleteTenantFields]
    ) -> types.DeletedResponse:
        """With its users, keys, jobs, endpoints and all that was recorded."""
        return self._call(operations.DELETE_TENANT, (tenant_id,), fields)

    def delete_user(self, tenant_id: str, user_id: str, /) -> types.DeletedResponse:
        """With their keys."""
        return self._call(operations.DELETE_USER, (tenant_id, user_id), {})

    def delete_webhook(self, webhook_id: str, /) -> types.WebhookResponse:
        """With its log; what waits for it is not sent."""
        return self._call(operations.DELETE_WEBHOOK, (webhook_id,), {})

    def dismiss(
        self, session_id: str, /, **fields: Unpack[types.AcceptBody]
    ) -> types.DismissedSuggestionResponse:
        """It is not wanted: it leaves the list, and nearly the same is not suggested again while it would have been open."""
        return self._call(operations.DISMISS, (session_id,), fields)

    def explain_next_run(self, endpoint: str, /) -> types.ExplanationResponse:
        """Why it runs next when it does, what was considered, and what would change it."""
        return self._call(operations.EXPLAIN_NEXT_RUN, (endpoint,), {})

    def export_manifest(self) -> types.ManifestDocument:
        """Everything that has not ended, as a file that changes nothing when it is applied."""
        return self._call(operations.EXPORT_MANIFEST, (), {})

    def get_account(self, account: str, /) -> types.AccountResponse:
        return self._call(operations.GET_ACCOUNT, (account,), {})

    def get_account_usage(
        self, account: str, /, **fields: Unpack[types.GetAccountUsageFields]
    ) -> types.AccountUsageResponse:
        """Calls, tokens and credits: days in their order, other groups by what they cost."""
        return self._call(operations.GET_ACCOUNT_USAGE, (account,), fields)

    def get_activity(self, **fields: Unpack[types.GetActivityFields]) -> types.ActivityResponse:
        """Runs by family and outcome, and how late and how long they were; the last hour where nothing else is asked for."""
        return self._call(operations.GET_ACTIVITY, (), fields)

    def get_delivery(self, delivery_id: str, /) -> types.DeliveryDetailResponse:
        """With what is or was sent."""
        return self._call(operations.GET_DELIVERY, (delivery_id,), {})

    def get_endpoint(self, endpoint: str, /) -> types.EndpointDetailResponse:
        return self._call(operations.GET_ENDPOINT, (endpoint,), {})

    def get_grant(self, grant_id: str, /) -> types.GrantDetailResponse:
        """With its last uses."""
        return self._call(operations.GET_GRANT, (grant_id,), {})

    def get_health(self, endpoint: str, /) -> types.HealthResponse:
        """How its runs ended over the last hour, four hours and day."""
        return self._call(operations.GET_HEALTH, (endpoint,), {})

    def get_incident(self, incident_id: str, /) -> types.IncidentResponse:
        return self._call(operations.GET_INCIDENT, (incident_id,), {})

    def get_job(self, job: str, /) -> types.JobResponse:
        return self._call(operations.GET_JOB, (job,), {})

    def get_job_strips(self, **fields: Unpack[types.GetJobStripsFields]) -> types.JobStripsResponse:
        """Of each of these jobs the last hour by minute, and its endpoints by state."""
        return self._call(operations.GET_JOB_STRIPS, (), fields)

    def get_own_tenant(self) -> types.TenantResponse:
        return self._call(operations.GET_OWN_TENANT, (), {})

    def get_planner(self) -> types.PlannerSwitchResponse:
        """What it may do where a job has no modes of its own, and whether it is stopped."""
        return self._call(operations.GET_PLANNER, (), {})

    def get_planner_days(
        self, **fields: Unpack[types.GetPlannerDaysFields]
    ) -> types.PlannerDaysResponse:
        """Sessions, tokens and cost by day in UTC, and how often planners looked and did nothing."""
        return self._call(operations.GET_PLANNER_DAYS, (), fields)

    def get_quota(self) -> types.QuotaResponse:
        """Tokens and money for analysis this month, and since when there is not enough."""
        return self._call(operations.GET_QUOTA, (), {})

    def get_quota_of_job(self, job: str, /) -> types.JobQuotaResponse:
        """Tokens and money for sessions about this job today (UTC), and the runs that detectors may add to its baseline."""
        return self._call(operations.GET_QUOTA_OF_JOB, (job,), {})

    def get_run(self, run_id: str, /) -> types.RunDetailResponse:
        return self._call(operations.GET_RUN, (run_id,), {})

    def get_schedule(self, schedule: str, /) -> types.ScheduleDetailResponse:
        """Also one that is deleted."""
        return self._call(operations.GET_SCHEDULE, (schedule,), {})

    def get_schedule_run(
        self, schedule: str, schedule_run_id: str, /
    ) -> types.ScheduleRunDetailResponse:
        """With its first events."""
        return self._call(operations.GET_SCHEDULE_RUN, (schedule, schedule_run_id), {})

    def get_score(self, job: str, /, **fields: Unpack[types.GetScoreFields]) -> types.ScoreResponse:
        """Runs with what bent them: hints and pauses with author and reason, flags, what is planned and what the baseline alone would do, and two values of the answers."""
        return self._call(operations.GET_SCORE, (job,), fields)

    def get_session(self, session_id: str, /) -> types.SessionDetailResponse:
        return self._call(operations.GET_SESSION, (session_id,), {})

    def get_states(self, **fields: Unpack[types.GetStatesFields]) -> types.StateCountsResponse:
        """How many endpoints are in which state."""
        return self._call(operations.GET_STATES, (), fields)

    def get_tenant(self, tenant_id: str, /) -> types.TenantResponse:
        return self._call(operations.GET_TENANT, (tenant_id,), {})

    def get_timeline(
        self, job: str, /, **fields: Unpack[types.GetTimelineFields]
    ) -> Iterator[types.TimelineEntryResponse]:
        """Runs, actions of people and sessions of the planner, merged by time, newest first."""
        return self._pages(operations.GET_TIMELINE, (job,), fields)

    def get_usage(self) -> types.UsageResponse:
        """Runs by how they ended, and what there is."""
        return self._call(operations.GET_USAGE, (), {})

    def get_values(
        self, endpoint: str, /, **fields: Unpack[types.GetValuesFields]
    ) -> types.ValuesResponse:
        """A number of its answers over time, and which numbers there are: those that rules read first, then those that move most."""
        return self._call(operations.GET_VALUES, (endpoint,), fields)

    def give_role_for_job(
        self, job: str, user_id: str, /, **fields: Unpack[types.RoleBody]
    ) -> types.JobPersonResponse:
        """To anybody of the tenant, in place of the role for this job that they had; what they have elsewhere stays."""
        return self._call(operations.GIVE_ROLE_FOR_JOB, (job, user_id), fields)

    def healthz(self) -> types.AliveResponse:
        """The process answers."""
        return self._call(operations.HEALTHZ, (), {})

    def hint_interval(
        self, endpoint: str, /, **fields: Unpack[types.IntervalHintBody]
    ) -> types.EndpointResponse:
        """Run at another interval for a while."""
        return self._call(operations.HINT_INTERVAL, (endpoint,), fields)

    def hint_one_shot(
        self, endpoint: str, /, **fields: Unpack[types.OneShotHintBody]
    ) -> types.EndpointResponse:
        """Run once at an instant, if the baseline does not come first."""
        return self._call(operations.HINT_ONE_SHOT, (endpoint,), fields)

    def invite_to_job(
        self, job: str, /, **fields: Unpack[types.JobInvitationBody]
    ) -> types.CreatedInvitationResponse:
        """To this job and nothing else."""
        return self._call(operations.INVITE_TO_JOB, (job,), fields)

    def judge_rules(self, endpoint: str, /) -> types.RulesNowResponse:
        """The declared rules that read it, judged now on its latest answer; nothing comes of it."""
        return self._call(operations.JUDGE_RULES, (endpoint,), {})

    def list_accounts(
        self, **fields: Unpack[types.ListAccountsFields]
    ) -> Iterator[types.AccountResponse]:
        """By name, with their balances."""
        return self._pages(operations.LIST_ACCOUNTS, (), fields)

    def list_analyses(self, endpoint: str, /) -> types.AnalysesResponse:
        """How each brain stands to it: when it looked, when it looks again, and what is in the way."""
        return self._call(operations.LIST_ANALYSES, (endpoint,), {})

    def list_audit(
        self, **fields: Unpack[types.ListAuditFields]
    ) -> Iterator[types.AuditEntryResponse]:
        """Who did what, newest first."""
        return self._pages(operations.LIST_AUDIT, (), fields)

    def list_channels(self) -> types.ChannelsResponse:
        """By name, with how they do."""
        return self._call(operations.LIST_CHANNELS, (), {})

    def list_deliveries(
        self, **fields: Unpack[types.ListDeliveriesFields]
    ) -> Iterator[types.DeliveryResponse]:
        """Messages to channels and events to webhooks, the newest first."""
        return self._pages(operations.LIST_DELIVERIES, (), fields)

    def list_endpoints(
        self, **fields: Unpack[types.ListEndpointsFields]
    ) -> Iterator[types.EndpointResponse]:
        return self._pages(operations.LIST_ENDPOINTS, (), fields)

    def list_grants(
        self, **fields: Unpack[types.ListGrantsFields]
    ) -> Iterator[types.GrantResponse]:
        """Those of the tenant, newest first."""
        return self._pages(operations.LIST_GRANTS, (), fields)

    def list_graphs(
        self, **fields: Unpack[types.ListGraphsFields]
    ) -> Iterator[types.GraphResponse]:
        """By id, with the workers that know them; they belong to the installation."""
        return self._pages(operations.LIST_GRAPHS, (), fields)

    def list_ids(self, **fields: Unpack[types.ListIdsFields]) -> types.IdsResponse:
        """The ids of one kind that begin so, a few at most."""
        return self._call(operations.LIST_IDS, (), fields)

    def list_incidents(
        self, **fields: Unpack[types.ListIncidentsFields]
    ) -> Iterator[types.IncidentResponse]:
        """The newest first."""
        return self._pages(operations.LIST_INCIDENTS, (), fields)

    def list_invitations(self) -> types.InvitationsResponse:
        """Newest first; those that have ended, for a month."""
        return self._call(operations.LIST_INVITATIONS, (), {})

    def list_invitations_to_job(self, job: str, /) -> types.InvitationsResponse:
        """To this job and nothing else, newest first; those that have ended, for a month."""
        return self._call(operations.LIST_INVITATIONS_TO_JOB, (job,), {})

    def list_jobs(self, **fields: Unpack[types.ListJobsFields]) -> Iterator[types.JobResponse]:
        return self._pages(operations.LIST_JOBS, (), fields)

    def list_keys(self) -> types.KeysResponse:
        return self._call(operations.LIST_KEYS, (), {})

    def list_keys_of_job(self, job: str, /) -> types.KeysResponse:
        """Those for this job and nothing else, whoever they act for."""
        return self._call(operations.LIST_KEYS_OF_JOB, (job,), {})

    def list_ledger(
        self, account: str, /, **fields: Unpack[types.ListLedgerFields]
    ) -> Iterator[types.LedgerEntryResponse]:
        """Newest first, each with the balance after it."""
        return self._pages(operations.LIST_LEDGER, (account,), fields)

    def list_people(self) -> types.PeopleResponse:
        """Everybody who has a role here, by name."""
        return self._call(operations.LIST_PEOPLE, (), {})

    def list_people_of_job(self, job: str, /) -> types.JobPeopleResponse:
        """Who has a role for this very job, by name; not those who see it by a role in the tenant."""
        return self._call(operations.LIST_PEOPLE_OF_JOB, (job,), {})

    def list_routes(self) -> types.RoutesResponse:
        """The oldest first."""
        return self._call(operations.LIST_ROUTES, (), {})

    def list_runs(
        self, **fields: Unpack[types.ListRunsFields]
    ) -> Iterator[types.ListedRunResponse]:
        """Newest slot first, without what they answered; `error` is a piece of kind or message."""
        return self._pages(operations.LIST_RUNS, (), fields)

    def list_schedule_run_events(
        self,
        schedule: str,
        schedule_run_id: str,
        /,
        **fields: Unpack[types.ListScheduleRunEventsFields],
    ) -> types.RunEventsResponse:
        return self._call(operations.LIST_SCHEDULE_RUN_EVENTS, (schedule, schedule_run_id), fields)

    def list_schedule_runs(
        self, schedule: str, /, **fields: Unpack[types.ListScheduleRunsFields]
    ) -> Iterator[types.ScheduleRunResponse]:
        """Its slots, the newest first: the one that waits, then what became of the others."""
        return self._pages(operations.LIST_SCHEDULE_RUNS, (schedule,), fields)

    def list_schedules(
        self, **fields: Unpack[types.ListSchedulesFields]
    ) -> Iterator[types.ScheduleResponse]:
        """Those that are not deleted, the oldest first."""
        return self._pages(operations.LIST_SCHEDULES, (), fields)

    def list_sessions(
        self, **fields: Unpack[types.ListSessionsFields]
    ) -> Iterator[types.SessionResponse]:
        """What the planner did or wanted, newest first; `search` looks into its reasoning."""
        return self._pages(operations.LIST_SESSIONS, (), fields)

    def list_signing_keys(self) -> types.SigningKeysResponse:
        return self._call(operations.LIST_SIGNING_KEYS, (), {})

    def list_steering(
        self, endpoint: str, /, **fields: Unpack[types.ListSteeringFields]
    ) -> Iterator[types.SteeringEntryResponse]:
        """Its hints and pauses, those of the past too, newest first: who, why, and how each ended."""
        return self._pages(operations.LIST_STEERING, (endpoint,), fields)

    def list_suggestions(
        self, **fields: Unpack[types.ListSuggestionsFields]
    ) -> types.SuggestionsResponse:
        """Those that can be accepted now, the newest first."""
        return self._call(operations.LIST_SUGGESTIONS, (), fields)

    def list_tenants(
        self, **fields: Unpack[types.ListTenantsFields]
    ) -> Iterator[types.TenantResponse]:
        return self._pages(operations.LIST_TENANTS, (), fields)

    def list_users(self) -> types.UsersResponse:
        return self._call(operations.LIST_USERS, (), {})

    def list_users_of_tenant(self, tenant_id: str, /) -> types.UsersResponse:
        return self._call(operations.LIST_USERS_OF_TENANT, (tenant_id,), {})

    def list_virtual_keys(self, account: str, /) -> types.VirtualKeysResponse:
        """The oldest first, revoked ones among them."""
        return self._call(operations.LIST_VIRTUAL_KEYS, (account,), {})

    def list_webhooks(self) -> types.WebhooksResponse:
        """By name."""
        return self._call(operations.LIST_WEBHOOKS, (), {})

    def list_workers(self, **fields: Unpack[types.ListWorkersFields]) -> types.WorkersResponse:
        """Schedulers, planners and graph workers, those that live first."""
        return self._call(operations.LIST_WORKERS, (), fields)

    def me(self) -> types.MeResponse:
        """Who you are, by your key."""
        return self._call(operations.ME, (), {})

    def pause(self, endpoint: str, /, **fields: Unpack[types.PauseBody]) -> types.EndpointResponse:
        """No scheduled run before an instant, or until it is resumed."""
        return self._call(operations.PAUSE, (endpoint,), fields)

    def pause_job(self, job: str, /, **fields: Unpack[types.PauseBody]) -> types.JobResponse:
        """No scheduled run of any of its endpoints before an instant, or until it is resumed."""
        return self._call(operations.PAUSE_JOB, (job,), fields)

    def preview(
        self, endpoint: str, /, **fields: Unpack[types.PreviewFields]
    ) -> types.PreviewResponse:
        """The next runs, if each of them goes well and takes no time."""
        return self._call(operations.PREVIEW, (endpoint,), fields)

    def preview_draft(
        self, **fields: Unpack[types.PreviewDraftFields]
    ) -> types.DraftPreviewResponse:
        """The next runs of a schedule that is not saved; nothing is kept of it."""
        return self._call(operations.PREVIEW_DRAFT, (), fields)

    def readyz(self) -> types.ReadyResponse:
        """The database answers, and its schema is the one that this version needs."""
        return self._call(operations.READYZ, (), {})

    def remove_person(self, user_id: str, /) -> types.PersonResponse:
        """With their keys and browsers, at once; what they granted is revoked."""
        return self._call(operations.REMOVE_PERSON, (user_id,), {})

    def report_result(
        self, run_id: str, /, **fields: Unpack[types.ResultBody]
    ) -> types.ResultResponse:
        """The first report of a run counts."""
        return self._call(operations.REPORT_RESULT, (run_id,), fields)

    def resend_delivery(self, delivery_id: str, /) -> types.DeliveryResponse:
        """The same content once more, as a new delivery with an id of its own."""
        return self._call(operations.RESEND_DELIVERY, (delivery_id,), {})

    def reset_failures(self, endpoint: str, /) -> types.EndpointResponse:
        """Forget the failures, and with them the back-off."""
        return self._call(operations.RESET_FAILURES, (endpoint,), {})

    def resolve_incident(self, incident_id: str, /) -> types.IncidentResponse:
        """By hand: it stays closed until the same begins anew."""
        return self._call(operations.RESOLVE_INCIDENT, (incident_id,), {})

    def restore(
        self, session_id: str, /, **fields: Unpack[types.AcceptBody]
    ) -> types.DismissedSuggestionResponse:
        """Undo a dismissal; 409 where there is none."""
        return self._call(operations.RESTORE, (session_id,), fields)

    def restore_endpoint(self, endpoint: str, /) -> types.EndpointDetailResponse:
        """Undo its end."""
        return self._call(operations.RESTORE_ENDPOINT, (endpoint,), {})

    def restore_job(self, job: str, /) -> types.JobResponse:
        """Undo the end of a job, and of the endpoints that ended with it."""
        return self._call(operations.RESTORE_JOB, (job,), {})

    def resume(self, endpoint: str, /) -> types.EndpointResponse:
        """Lift a person's pause and a planner's; that of the job stays."""
        return self._call(operations.RESUME, (endpoint,), {})

    def resume_job(self, job: str, /) -> types.JobResponse:
        return self._call(operations.RESUME_JOB, (job,), {})

    def revoke_grant(self, grant_id: str, /) -> types.GrantResponse:
        """No run starts under it from now on; revoking it again changes nothing."""
        return self._call(operations.REVOKE_GRANT, (grant_id,), {})

    def revoke_invitation(self, invitation_id: str, /) -> types.InvitationResponse:
        """Its link opens nothing from now on."""
        return self._call(operations.REVOKE_INVITATION, (invitation_id,), {})

    def revoke_invitation_to_job(
        self, job: str, job_invitation_id: str, /
    ) -> types.InvitationResponse:
        """Its link opens nothing from now on."""
        return self._call(operations.REVOKE_INVITATION_TO_JOB, (job, job_invitation_id), {})

    def revoke_key(self, key_id: str, /) -> types.KeyResponse:
        """It opens nothing from now on."""
        return self._call(operations.REVOKE_KEY, (key_id,), {})

    def revoke_key_of_job(self, job: str, job_key_id: str, /) -> types.KeyResponse:
        """It opens nothing from now on."""
        return self._call(operations.REVOKE_KEY_OF_JOB, (job, job_key_id), {})

    def revoke_virtual_key(self, account: str, virtual_key_id: str, /) -> types.VirtualKeyResponse:
        """Its secret is forgotten."""
        return self._call(operations.REVOKE_VIRTUAL_KEY, (account, virtual_key_id), {})

    def rotate_key(
        self, key_id: str, /, **fields: Unpack[types.KeyRotationBody]
    ) -> types.CreatedKeyResponse:
        """A new key in the place of another, with the same user, name, scopes and jobs."""
        return self._call(operations.ROTATE_KEY, (key_id,), fields)

    def run_now(self, endpoint: str, /) -> types.RequestedRunResponse:
        """A run now, whatever min and pause say; 409 while one is in flight."""
        return self._call(operations.RUN_NOW, (endpoint,), {})

    def run_schedule(self, schedule: str, /) -> types.SlotResponse:
        """Now, in a slot of its own; refused under `forbid` while a run is under way."""
        return self._call(operations.RUN_SCHEDULE, (schedule,), {})

    def runs_of_session(
        self, session_id: str, /, **fields: Unpack[types.RunsOfSessionFields]
    ) -> types.SessionRunsResponse:
        """The runs whose slots its hints and pauses chose, the oldest first."""
        return self._call(operations.RUNS_OF_SESSION, (session_id,), fields)

    def search(self, **fields: Unpack[types.SearchFields]) -> types.SearchResponse:
        """Jobs, endpoints, runs by their error or status code, and sessions by their reasoning: of runs and sessions those of the last seven days."""
        return self._call(operations.SEARCH, (), fields)

    def set_default_key(self, account: str, virtual_key_id: str, /) -> types.VirtualKeyResponse:
        """Calls to its api are made with it from now on."""
        return self._call(operations.SET_DEFAULT_KEY, (account, virtual_key_id), {})

    def start_every_planner(self) -> types.SwitchedResponse:
        """In the tenants that were stopped from here; one that has stopped its own stays stopped."""
        return self._call(operations.START_EVERY_PLANNER, (), {})

    def start_planner(self) -> types.PlannerSwitchResponse:
        """With exactly the modes that were, but for those that somebody has set since."""
        return self._call(operations.START_PLANNER, (), {})

    def stop_every_planner(self, **fields: Unpack[types.StopPlannerBody]) -> types.SwitchedResponse:
        """In every tenant."""
        return self._call(operations.STOP_EVERY_PLANNER, (), fields)

    def stop_planner(self, **fields: Unpack[types.StopPlannerBody]) -> types.PlannerSwitchResponse:
        """No rule, detector or model acts or advises, whatever modes a job has."""
        return self._call(operations.STOP_PLANNER, (), fields)

    def take_role_for_job(self, job: str, user_id: str, /) -> types.JobPersonResponse:
        """What they have elsewhere stays."""
        return self._call(operations.TAKE_ROLE_FOR_JOB, (job, user_id), {})

    def test_channel(self, channel_id: str, /) -> types.DeliveryResponse:
        """Sends a message through a notifier; read the delivery to see how that ended."""
        return self._call(operations.TEST_CHANNEL, (channel_id,), {})

    def test_endpoint(self, endpoint: str, /) -> types.TestCallResponse:
        """Call the target once, now."""
        return self._call(operations.TEST_ENDPOINT, (endpoint,), {})

    def test_webhook(self, webhook_id: str, /) -> types.DeliveryResponse:
        """Sends `webhook.test` through a notifier; read the delivery to see how that ended."""
        return self._call(operations.TEST_WEBHOOK, (webhook_id,), {})

    def verify_ledger(self, account: str, /) -> types.LedgerCheckResponse:
        """Whether the balance is the sum of the ledger, entry by entry, and every charge is in it."""
        return self._call(operations.VERIFY_LEDGER, (account,), {})
