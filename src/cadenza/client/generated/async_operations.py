"""Every operation of the API as a method, on a loop.

Made by `python -m tests.client.generate`; do not change it by hand.
"""

from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from typing_extensions import Unpack

from cadenza.client.core import Operation
from cadenza.client.generated import operations, types


class AsyncOperations:
    @abstractmethod
    async def _call(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Any: ...

    @abstractmethod
    def _pages(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> AsyncIterator[Any]: ...

    async def accept(
        self, session_id: str, /, **fields: Unpack[types.AcceptBody]
    ) -> types.AcceptedSuggestionResponse:
        """Do what was suggested, within the planner's bounds; 409 where it was accepted before."""
        return await self._call(operations.ACCEPT, (session_id,), fields)

    async def acknowledge_incident(self, incident_id: str, /) -> types.IncidentResponse:
        """Somebody is at it: no more is told of it unless it gets worse, or is over."""
        return await self._call(operations.ACKNOWLEDGE_INCIDENT, (incident_id,), {})

    async def act_on_many(self, **fields: Unpack[types.BulkBody]) -> types.BulkResponse:
        """Pause, resume, clear the hints or reset the failures of up to 1,000 endpoints: all that can be done, in one transaction, and what became of each."""
        return await self._call(operations.ACT_ON_MANY, (), fields)

    async def act_on_matching(self, **fields: Unpack[types.MatchingBody]) -> types.MatchingResponse:
        """The same on every endpoint that fits, up to 10,000, a transaction for every thousand."""
        return await self._call(operations.ACT_ON_MATCHING, (), fields)

    async def add_credits(
        self, account: str, /, **fields: Unpack[types.CreditsBody]
    ) -> types.LedgerEntryResponse:
        """Add credits, or take some away; the same reference counts once."""
        return await self._call(operations.ADD_CREDITS, (account,), fields)

    async def analyse(self, endpoint: str, /) -> types.RequestedAnalysisResponse:
        """Ask the planner for an analysis, as soon as it can."""
        return await self._call(operations.ANALYSE, (endpoint,), {})

    async def answer_schedule_run(
        self, schedule: str, schedule_run_id: str, /, **fields: Unpack[types.AnswerBody]
    ) -> types.SlotResponse:
        """What the run waits for; it goes on as a new run of the same schedule, once."""
        return await self._call(operations.ANSWER_SCHEDULE_RUN, (schedule, schedule_run_id), fields)

    async def apply_manifest(
        self, **fields: Unpack[types.ApplyManifestFields]
    ) -> types.AppliedManifestResponse:
        """All of it, or, where anything is wrong, nothing."""
        return await self._call(operations.APPLY_MANIFEST, (), fields)

    async def archive_endpoint(self, endpoint: str, /) -> types.EndpointResponse:
        """Its end; its history stays."""
        return await self._call(operations.ARCHIVE_ENDPOINT, (endpoint,), {})

    async def archive_job(
        self, job: str, /, **fields: Unpack[types.ArchiveJobFields]
    ) -> types.JobResponse:
        """The end of a job and of its endpoints; their history stays."""
        return await self._call(operations.ARCHIVE_JOB, (job,), fields)

    async def cancel_schedule_run(
        self, schedule: str, schedule_run_id: str, /
    ) -> types.ScheduleRunResponse:
        """It ends now, and its worker is told; what it has cost stays charged."""
        return await self._call(operations.CANCEL_SCHEDULE_RUN, (schedule, schedule_run_id), {})

    async def change_channel(
        self, channel_id: str, /, **fields: Unpack[types.ChannelPatchBody]
    ) -> types.ChannelResponse:
        """Fields that are left out stay."""
        return await self._call(operations.CHANGE_CHANNEL, (channel_id,), fields)

    async def change_endpoint(
        self, endpoint: str, /, **fields: Unpack[types.ChangeEndpointFields]
    ) -> types.EndpointDetailResponse:
        return await self._call(operations.CHANGE_ENDPOINT, (endpoint,), fields)

    async def change_job(
        self, job: str, /, **fields: Unpack[types.ChangeJobFields]
    ) -> types.ChangedJobResponse:
        return await self._call(operations.CHANGE_JOB, (job,), fields)

    async def change_own_tenant(
        self, **fields: Unpack[types.TenantPatchBody]
    ) -> types.TenantResponse:
        return await self._call(operations.CHANGE_OWN_TENANT, (), fields)

    async def change_role(
        self, user_id: str, /, **fields: Unpack[types.AccessBody]
    ) -> types.PersonResponse:
        """In place of all roles that they had; it counts at once."""
        return await self._call(operations.CHANGE_ROLE, (user_id,), fields)

    async def change_route(
        self, route_id: str, /, **fields: Unpack[types.RoutePatchBody]
    ) -> types.RouteResponse:
        """Fields that are left out stay."""
        return await self._call(operations.CHANGE_ROUTE, (route_id,), fields)

    async def change_schedule(
        self, schedule: str, /, **fields: Unpack[types.ChangeScheduleFields]
    ) -> types.ScheduleDetailResponse:
        """The slot that waits changes with it; a run under way goes on as it was."""
        return await self._call(operations.CHANGE_SCHEDULE, (schedule,), fields)

    async def change_webhook(
        self, webhook_id: str, /, **fields: Unpack[types.WebhookPatchBody]
    ) -> types.WebhookResponse:
        """Fields that are left out stay."""
        return await self._call(operations.CHANGE_WEBHOOK, (webhook_id,), fields)

    async def clear_hints(self, endpoint: str, /) -> types.EndpointResponse:
        """Drop both hints; the baseline returns at once."""
        return await self._call(operations.CLEAR_HINTS, (endpoint,), {})

    async def count_matching(
        self, **fields: Unpack[types.CountMatchingFields]
    ) -> types.MatchingCountResponse:
        """How many endpoints fit, and how many an action may be for at most."""
        return await self._call(operations.COUNT_MATCHING, (), fields)

    async def create_account(
        self, **fields: Unpack[types.CreateAccountFields]
    ) -> types.AccountResponse:
        """It begins with no credits."""
        return await self._call(operations.CREATE_ACCOUNT, (), fields)

    async def create_channel(
        self, **fields: Unpack[types.CreateChannelFields]
    ) -> types.ChannelResponse:
        """The URL is checked, but nothing is sent: `test` does that."""
        return await self._call(operations.CREATE_CHANNEL, (), fields)

    async def create_endpoint(
        self, job: str, /, **fields: Unpack[types.CreateEndpointFields]
    ) -> types.EndpointDetailResponse:
        return await self._call(operations.CREATE_ENDPOINT, (job,), fields)

    async def create_grant(self, **fields: Unpack[types.CreateGrantFields]) -> types.GrantResponse:
        """In your own name."""
        return await self._call(operations.CREATE_GRANT, (), fields)

    async def create_invitation(
        self, **fields: Unpack[types.InvitationBody]
    ) -> types.CreatedInvitationResponse:
        """Nothing is sent: give the link to whom you invite."""
        return await self._call(operations.CREATE_INVITATION, (), fields)

    async def create_job(self, **fields: Unpack[types.CreateJobFields]) -> types.JobResponse:
        return await self._call(operations.CREATE_JOB, (), fields)

    async def create_key(self, **fields: Unpack[types.CreateKeyFields]) -> types.CreatedKeyResponse:
        """The key itself is in this answer, and never again."""
        return await self._call(operations.CREATE_KEY, (), fields)

    async def create_key_for_user(
        self, tenant_id: str, user_id: str, /, **fields: Unpack[types.FirstKeyBody]
    ) -> types.CreatedKeyResponse:
        """The key itself is in this answer, and never again."""
        return await self._call(operations.CREATE_KEY_FOR_USER, (tenant_id, user_id), fields)

    async def create_key_of_job(
        self, job: str, /, **fields: Unpack[types.CreateKeyOfJobFields]
    ) -> types.CreatedKeyResponse:
        """For this job and nothing else, `read` or `operate`; it acts for you."""
        return await self._call(operations.CREATE_KEY_OF_JOB, (job,), fields)

    async def create_route(self, **fields: Unpack[types.CreateRouteFields]) -> types.RouteResponse:
        """Which incidents a channel is told of, and when not."""
        return await self._call(operations.CREATE_ROUTE, (), fields)

    async def create_schedule(
        self, **fields: Unpack[types.CreateScheduleFields]
    ) -> types.ScheduleDetailResponse:
        """With its grant and its first slot, in one transaction."""
        return await self._call(operations.CREATE_SCHEDULE, (), fields)

    async def create_sign_in_link(self) -> types.SignInLinkResponse:
        """Who opens it is signed in as you, with the scopes of this key."""
        return await self._call(operations.CREATE_SIGN_IN_LINK, (), {})

    async def create_signing_key(
        self, **fields: Unpack[types.SigningKeyBody]
    ) -> types.CreatedSigningKeyResponse:
        """A new key signs at once; workers take it up within a few seconds."""
        return await self._call(operations.CREATE_SIGNING_KEY, (), fields)

    async def create_tenant(
        self, **fields: Unpack[types.CreateTenantFields]
    ) -> types.TenantResponse:
        return await self._call(operations.CREATE_TENANT, (), fields)

    async def create_user(
        self, tenant_id: str, /, **fields: Unpack[types.CreateUserFields]
    ) -> types.UserResponse:
        return await self._call(operations.CREATE_USER, (tenant_id,), fields)

    async def create_virtual_key(
        self, account: str, /, **fields: Unpack[types.CreateVirtualKeyFields]
    ) -> types.VirtualKeyResponse:
        """How the account reaches a provider."""
        return await self._call(operations.CREATE_VIRTUAL_KEY, (account,), fields)

    async def create_webhook(
        self, **fields: Unpack[types.CreateWebhookFields]
    ) -> types.WebhookResponse:
        """Events from now on, signed with the tenant's signing key."""
        return await self._call(operations.CREATE_WEBHOOK, (), fields)

    async def delete_channel(self, channel_id: str, /) -> types.ChannelResponse:
        """With its routes; what waits for it is not sent."""
        return await self._call(operations.DELETE_CHANNEL, (channel_id,), {})

    async def delete_endpoint(
        self, endpoint: str, /, **fields: Unpack[types.DeleteEndpointFields]
    ) -> types.RemovalResponse:
        """For good, with its runs and sessions; only what is archived."""
        return await self._call(operations.DELETE_ENDPOINT, (endpoint,), fields)

    async def delete_job(
        self, job: str, /, **fields: Unpack[types.DeleteJobFields]
    ) -> types.RemovalResponse:
        """For good, with its endpoints, their runs and sessions; only what is archived."""
        return await self._call(operations.DELETE_JOB, (job,), fields)

    async def delete_route(self, route_id: str, /) -> types.RouteResponse:
        return await self._call(operations.DELETE_ROUTE, (route_id,), {})

    async def delete_schedule(
        self, schedule: str, /, **fields: Unpack[types.DeleteScheduleFields]
    ) -> None:
        """Its history stays; the grant that was made for it is revoked."""
        return await self._call(operations.DELETE_SCHEDULE, (schedule,), fields)

    async def delete_tenant(
        self, tenant_id: str, /, **fields: Unpack[types.DeleteTenantFields]
    ) -> types.DeletedResponse:
        """With its users, keys, jobs, endpoints and all that was recorded."""
        return await self._call(operations.DELETE_TENANT, (tenant_id,), fields)

    async def delete_user(self, tenant_id: str, user_id: str, /) -> types.DeletedResponse:
        """With their keys."""
        return await self._call(operations.DELETE_USER, (tenant_id, user_id), {})

    async def delete_webhook(self, webhook_id: str, /) -> types.WebhookResponse:
        """With its log; what waits for it is not sent."""
        return await self._call(operations.DELETE_WEBHOOK, (webhook_id,), {})

    async def dismiss(
        self, session_id: str, /, **fields: Unpack[types.AcceptBody]
    ) -> types.DismissedSuggestionResponse:
        """It is not wanted: it leaves the list, and nearly the same is not suggested again while it would have been open."""
        return await self._call(operations.DISMISS, (session_id,), fields)

    async def explain_next_run(self, endpoint: str, /) -> types.ExplanationResponse:
        """Why it runs next when it does, what was considered, and what would change it."""
        return await self._call(operations.EXPLAIN_NEXT_RUN, (endpoint,), {})

    async def export_manifest(self) -> types.ManifestDocument:
        """Everything that has not ended, as a file that changes nothing when it is applied."""
        return await self._call(operations.EXPORT_MANIFEST, (), {})

    async def get_account(self, account: str, /) -> types.AccountResponse:
        return await self._call(operations.GET_ACCOUNT, (account,), {})

    async def get_account_usage(
        self, account: str, /, **fields: Unpack[types.GetAccountUsageFields]
    ) -> types.AccountUsageResponse:
        """Calls, tokens and credits: days in their order, other groups by what they cost."""
        return await self._call(operations.GET_ACCOUNT_USAGE, (account,), fields)

    async def get_activity(
        self, **fields: Unpack[types.GetActivityFields]
    ) -> types.ActivityResponse:
        """Runs by family and outcome, and how late and how long they were; the last hour where nothing else is asked for."""
        return await self._call(operations.GET_ACTIVITY, (), fields)

    async def get_delivery(self, delivery_id: str, /) -> types.DeliveryDetailResponse:
        """With what is or was sent."""
        return await self._call(operations.GET_DELIVERY, (delivery_id,), {})

    async def get_endpoint(self, endpoint: str, /) -> types.EndpointDetailResponse:
        return await self._call(operations.GET_ENDPOINT, (endpoint,), {})

    async def get_grant(self, grant_id: str, /) -> types.GrantDetailResponse:
        """With its last uses."""
        return await self._call(operations.GET_GRANT, (grant_id,), {})

    async def get_health(self, endpoint: str, /) -> types.HealthResponse:
        """How its runs ended over the last hour, four hours and day."""
        return await self._call(operations.GET_HEALTH, (endpoint,), {})

    async def get_incident(self, incident_id: str, /) -> types.IncidentResponse:
        return await self._call(operations.GET_INCIDENT, (incident_id,), {})

    async def get_job(self, job: str, /) -> types.JobResponse:
        return await self._call(operations.GET_JOB, (job,), {})

    async def get_job_strips(
        self, **fields: Unpack[types.GetJobStripsFields]
    ) -> types.JobStripsResponse:
        """Of each of these jobs the last hour by minute, and its endpoints by state."""
        return await self._call(operations.GET_JOB_STRIPS, (), fields)

    async def get_own_tenant(self) -> types.TenantResponse:
        return await self._call(operations.GET_OWN_TENANT, (), {})

    async def get_planner(self) -> types.PlannerSwitchResponse:
        """What it may do where a job has no modes of its own, and whether it is stopped."""
        return await self._call(operations.GET_PLANNER, (), {})

    async def get_planner_days(
        self, **fields: Unpack[types.GetPlannerDaysFields]
    ) -> types.PlannerDaysResponse:
        """Sessions, tokens and cost by day in UTC, and how often planners looked and did nothing."""
        return await self._call(operations.GET_PLANNER_DAYS, (), fields)

    async def get_quota(self) -> types.QuotaResponse:
        """Tokens and money for analysis this month, and since when there is not enough."""
        return await self._call(operations.GET_QUOTA, (), {})

    async def get_quota_of_job(self, job: str, /) -> types.JobQuotaResponse:
        """Tokens and money for sessions about this job today (UTC), and the runs that detectors may add to its baseline."""
        return await self._call(operations.GET_QUOTA_OF_JOB, (job,), {})

    async def get_run(self, run_id: str, /) -> types.RunDetailResponse:
        return await self._call(operations.GET_RUN, (run_id,), {})

    async def get_schedule(self, schedule: str, /) -> types.ScheduleDetailResponse:
        """Also one that is deleted."""
        return await self._call(operations.GET_SCHEDULE, (schedule,), {})

    async def get_schedule_run(
        self, schedule: str, schedule_run_id: str, /
    ) -> types.ScheduleRunDetailResponse:
        """With its first events."""
        return await self._call(operations.GET_SCHEDULE_RUN, (schedule, schedule_run_id), {})

    async def get_score(
        self, job: str, /, **fields: Unpack[types.GetScoreFields]
    ) -> types.ScoreResponse:
        """Runs with what bent them: hints and pauses with author and reason, flags, what is planned and what the baseline alone would do, and two values of the answers."""
        return await self._call(operations.GET_SCORE, (job,), fields)

    async def get_session(self, session_id: str, /) -> types.SessionDetailResponse:
        return await self._call(operations.GET_SESSION, (session_id,), {})

    async def get_states(
        self, **fields: Unpack[types.GetStatesFields]
    ) -> types.StateCountsResponse:
        """How many endpoints are in which state."""
        return await self._call(operations.GET_STATES, (), fields)

    async def get_tenant(self, tenant_id: str, /) -> types.TenantResponse:
        return await self._call(operations.GET_TENANT, (tenant_id,), {})

    def get_timeline(
        self, job: str, /, **fields: Unpack[types.GetTimelineFields]
    ) -> AsyncIterator[types.TimelineEntryResponse]:
        """Runs, actions of people and sessions of the planner, merged by time, newest first."""
        return self._pages(operations.GET_TIMELINE, (job,), fields)

    async def get_usage(self) -> types.UsageResponse:
        """Runs by how they ended, and what there is."""
        return await self._call(operations.GET_USAGE, (), {})

    async def get_values(
        self, endpoint: str, /, **fields: Unpack[types.GetValuesFields]
    ) -> types.ValuesResponse:
        """A number of its answers over time, and which numbers there are: those that rules read first, then those that move most."""
        return await self._call(operations.GET_VALUES, (endpoint,), fields)

    async def give_role_for_job(
        self, job: str, user_id: str, /, **fields: Unpack[types.RoleBody]
    ) -> types.JobPersonResponse:
        """To anybody of the tenant, in place of the role for this job that they had; what they have elsewhere stays."""
        return await self._call(operations.GIVE_ROLE_FOR_JOB, (job, user_id), fields)

    async def healthz(self) -> types.AliveResponse:
        """The process answers."""
        return await self._call(operations.HEALTHZ, (), {})

    async def hint_interval(
        self, endpoint: str, /, **fields: Unpack[types.IntervalHintBody]
    ) -> types.EndpointResponse:
        """Run at another interval for a while."""
        return await self._call(operations.HINT_INTERVAL, (endpoint,), fields)

    async def hint_one_shot(
        self, endpoint: str, /, **fields: Unpack[types.OneShotHintBody]
    ) -> types.EndpointResponse:
        """Run once at an instant, if the baseline does not come first."""
        return await self._call(operations.HINT_ONE_SHOT, (endpoint,), fields)

    async def invite_to_job(
        self, job: str, /, **fields: Unpack[types.JobInvitationBody]
    ) -> types.CreatedInvitationResponse:
        """To this job and nothing else."""
        return await self._call(operations.INVITE_TO_JOB, (job,), fields)

    async def judge_rules(self, endpoint: str, /) -> types.RulesNowResponse:
        """The declared rules that read it, judged now on its latest answer; nothing comes of it."""
        return await self._call(operations.JUDGE_RULES, (endpoint,), {})

    def list_accounts(
        self, **fields: Unpack[types.ListAccountsFields]
    ) -> AsyncIterator[types.AccountResponse]:
        """By name, with their balances."""
        return self._pages(operations.LIST_ACCOUNTS, (), fields)

    async def list_analyses(self, endpoint: str, /) -> types.AnalysesResponse:
        """How each brain stands to it: when it looked, when it looks again, and what is in the way."""
        return await self._call(operations.LIST_ANALYSES, (endpoint,), {})

    def list_audit(
        self, **fields: Unpack[types.ListAuditFields]
    ) -> AsyncIterator[types.AuditEntryResponse]:
        """Who did what, newest first."""
        return self._pages(operations.LIST_AUDIT, (), fields)

    async def list_channels(self) -> types.ChannelsResponse:
        """By name, with how they do."""
        return await self._call(operations.LIST_CHANNELS, (), {})

    def list_deliveries(
        self, **fields: Unpack[types.ListDeliveriesFields]
    ) -> AsyncIterator[types.DeliveryResponse]:
        """Messages to channels and events to webhooks, the newest first."""
        return self._pages(operations.LIST_DELIVERIES, (), fields)

    def list_endpoints(
        self, **fields: Unpack[types.ListEndpointsFields]
    ) -> AsyncIterator[types.EndpointResponse]:
        return self._pages(operations.LIST_ENDPOINTS, (), fields)

    def list_grants(
        self, **fields: Unpack[types.ListGrantsFields]
    ) -> AsyncIterator[types.GrantResponse]:
        """Those of the tenant, newest first."""
        return self._pages(operations.LIST_GRANTS, (), fields)

    def list_graphs(
        self, **fields: Unpack[types.ListGraphsFields]
    ) -> AsyncIterator[types.GraphResponse]:
        """By id, with the workers that know them; they belong to the installation."""
        return self._pages(operations.LIST_GRAPHS, (), fields)

    async def list_ids(self, **fields: Unpack[types.ListIdsFields]) -> types.IdsResponse:
        """The ids of one kind that begin so, a few at most."""
        return await self._call(operations.LIST_IDS, (), fields)

    def list_incidents(
        self, **fields: Unpack[types.ListIncidentsFields]
    ) -> AsyncIterator[types.IncidentResponse]:
        """The newest first."""
        return self._pages(operations.LIST_INCIDENTS, (), fields)

    async def list_invitations(self) -> types.InvitationsResponse:
        """Newest first; those that have ended, for a month."""
        return await self._call(operations.LIST_INVITATIONS, (), {})

    async def list_invitations_to_job(self, job: str, /) -> types.InvitationsResponse:
        """To this job and nothing else, newest first; those that have ended, for a month."""
        return await self._call(operations.LIST_INVITATIONS_TO_JOB, (job,), {})

    def list_jobs(self, **fields: Unpack[types.ListJobsFields]) -> AsyncIterator[types.JobResponse]:
        return self._pages(operations.LIST_JOBS, (), fields)

    async def list_keys(self) -> types.KeysResponse:
        return await self._call(operations.LIST_KEYS, (), {})

    async def list_keys_of_job(self, job: str, /) -> types.KeysResponse:
        """Those for this job and nothing else, whoever they act for."""
        return await self._call(operations.LIST_KEYS_OF_JOB, (job,), {})

    def list_ledger(
        self, account: str, /, **fields: Unpack[types.ListLedgerFields]
    ) -> AsyncIterator[types.LedgerEntryResponse]:
        """Newest first, each with the balance after it."""
        return self._pages(operations.LIST_LEDGER, (account,), fields)

    async def list_people(self) -> types.PeopleResponse:
        """Everybody who has a role here, by name."""
        return await self._call(operations.LIST_PEOPLE, (), {})

    async def list_people_of_job(self, job: str, /) -> types.JobPeopleResponse:
        """Who has a role for this very job, by name; not those who see it by a role in the tenant."""
        return await self._call(operations.LIST_PEOPLE_OF_JOB, (job,), {})

    async def list_routes(self) -> types.RoutesResponse:
        """The oldest first."""
        return await self._call(operations.LIST_ROUTES, (), {})

    def list_runs(
        self, **fields: Unpack[types.ListRunsFields]
    ) -> AsyncIterator[types.ListedRunResponse]:
        """Newest slot first, without what they answered; `error` is a piece of kind or message."""
        return self._pages(operations.LIST_RUNS, (), fields)

    async def list_schedule_run_events(
        self,
        schedule: str,
        schedule_run_id: str,
        /,
        **fields: Unpack[types.ListScheduleRunEventsFields],
    ) -> types.RunEventsResponse:
        return await self._call(
            operations.LIST_SCHEDULE_RUN_EVENTS, (schedule, schedule_run_id), fields
        )

    def list_schedule_runs(
        self, schedule: str, /, **fields: Unpack[types.ListScheduleRunsFields]
    ) -> AsyncIterator[types.ScheduleRunResponse]:
        """Its slots, the newest first: the one that waits, then what became of the others."""
        return self._pages(operations.LIST_SCHEDULE_RUNS, (schedule,), fields)

    def list_schedules(
        self, **fields: Unpack[types.ListSchedulesFields]
    ) -> AsyncIterator[types.ScheduleResponse]:
        """Those that are not deleted, the oldest first."""
        return self._pages(operations.LIST_SCHEDULES, (), fields)

    def list_sessions(
        self, **fields: Unpack[types.ListSessionsFields]
    ) -> AsyncIterator[types.SessionResponse]:
        """What the planner did or wanted, newest first; `search` looks into its reasoning."""
        return self._pages(operations.LIST_SESSIONS, (), fields)

    async def list_signing_keys(self) -> types.SigningKeysResponse:
        return await self._call(operations.LIST_SIGNING_KEYS, (), {})

    def list_steering(
        self, endpoint: str, /, **fields: Unpack[types.ListSteeringFields]
    ) -> AsyncIterator[types.SteeringEntryResponse]:
        """Its hints and pauses, those of the past too, newest first: who, why, and how each ended."""
        return self._pages(operations.LIST_STEERING, (endpoint,), fields)

    async def list_suggestions(
        self, **fields: Unpack[types.ListSuggestionsFields]
    ) -> types.SuggestionsResponse:
        """Those that can be accepted now, the newest first."""
        return await self._call(operations.LIST_SUGGESTIONS, (), fields)

    def list_tenants(
        self, **fields: Unpack[types.ListTenantsFields]
    ) -> AsyncIterator[types.TenantResponse]:
        return self._pages(operations.LIST_TENANTS, (), fields)

    async def list_users(self) -> types.UsersResponse:
        return await self._call(operations.LIST_USERS, (), {})

    async def list_users_of_tenant(self, tenant_id: str, /) -> types.UsersResponse:
        return await self._call(operations.LIST_USERS_OF_TENANT, (tenant_id,), {})

    async def list_virtual_keys(self, account: str, /) -> types.VirtualKeysResponse:
        """The oldest first, revoked ones among them."""
        return await self._call(operations.LIST_VIRTUAL_KEYS, (account,), {})

    async def list_webhooks(self) -> types.WebhooksResponse:
        """By name."""
        return await self._call(operations.LIST_WEBHOOKS, (), {})

    async def list_workers(
        self, **fields: Unpack[types.ListWorkersFields]
    ) -> types.WorkersResponse:
        """Schedulers, planners and graph workers, those that live first."""
        return await self._call(operations.LIST_WORKERS, (), fields)

    async def me(self) -> types.MeResponse:
        """Who you are, by your key."""
        return await self._call(operations.ME, (), {})

    async def pause(
        self, endpoint: str, /, **fields: Unpack[types.PauseBody]
    ) -> types.EndpointResponse:
        """No scheduled run before an instant, or until it is resumed."""
        return await self._call(operations.PAUSE, (endpoint,), fields)

    async def pause_job(self, job: str, /, **fields: Unpack[types.PauseBody]) -> types.JobResponse:
        """No scheduled run of any of its endpoints before an instant, or until it is resumed."""
        return await self._call(operations.PAUSE_JOB, (job,), fields)

    async def preview(
        self, endpoint: str, /, **fields: Unpack[types.PreviewFields]
    ) -> types.PreviewResponse:
        """The next runs, if each of them goes well and takes no time."""
        return await self._call(operations.PREVIEW, (endpoint,), fields)

    async def preview_draft(
        self, **fields: Unpack[types.PreviewDraftFields]
    ) -> types.DraftPreviewResponse:
        """The next runs of a schedule that is not saved; nothing is kept of it."""
        return await self._call(operations.PREVIEW_DRAFT, (), fields)

    async def readyz(self) -> types.ReadyResponse:
        """The database answers, and its schema is the one that this version needs."""
        return await self._call(operations.READYZ, (), {})

    async def remove_person(self, user_id: str, /) -> types.PersonResponse:
        """With their keys and browsers, at once; what they granted is revoked."""
        return await self._call(operations.REMOVE_PERSON, (user_id,), {})

    async def report_result(
        self, run_id: str, /, **fields: Unpack[types.ResultBody]
    ) -> types.ResultResponse:
        """The first report of a run counts."""
        return await self._call(operations.REPORT_RESULT, (run_id,), fields)

    async def resend_delivery(self, delivery_id: str, /) -> types.DeliveryResponse:
        """The same content once more, as a new delivery with an id of its own."""
        return await self._call(operations.RESEND_DELIVERY, (delivery_id,), {})

    async def reset_failures(self, endpoint: str, /) -> types.EndpointResponse:
        """Forget the failures, and with them the back-off."""
        return await self._call(operations.RESET_FAILURES, (endpoint,), {})

    async def resolve_incident(self, incident_id: str, /) -> types.IncidentResponse:
        """By hand: it stays closed until the same begins anew."""
        return await self._call(operations.RESOLVE_INCIDENT, (incident_id,), {})

    async def restore(
        self, session_id: str, /, **fields: Unpack[types.AcceptBody]
    ) -> types.DismissedSuggestionResponse:
        """Undo a dismissal; 409 where there is none."""
        return await self._call(operations.RESTORE, (session_id,), fields)

    async def restore_endpoint(self, endpoint: str, /) -> types.EndpointDetailResponse:
        """Undo its end."""
        return await self._call(operations.RESTORE_ENDPOINT, (endpoint,), {})

    async def restore_job(self, job: str, /) -> types.JobResponse:
        """Undo the end of a job, and of the endpoints that ended with it."""
        return await self._call(operations.RESTORE_JOB, (job,), {})

    async def resume(self, endpoint: str, /) -> types.EndpointResponse:
        """Lift a person's pause and a planner's; that of the job stays."""
        return await self._call(operations.RESUME, (endpoint,), {})

    async def resume_job(self, job: str, /) -> types.JobResponse:
        return await self._call(operations.RESUME_JOB, (job,), {})

    async def revoke_grant(self, grant_id: str, /) -> types.GrantResponse:
        """No run starts under it from now on; revoking it again changes nothing."""
        return await self._call(operations.REVOKE_GRANT, (grant_id,), {})

    async def revoke_invitation(self, invitation_id: str, /) -> types.InvitationResponse:
        """Its link opens nothing from now on."""
        return await self._call(operations.REVOKE_INVITATION, (invitation_id,), {})

    async def revoke_invitation_to_job(
        self, job: str, job_invitation_id: str, /
    ) -> types.InvitationResponse:
        """Its link opens nothing from now on."""
        return await self._call(operations.REVOKE_INVITATION_TO_JOB, (job, job_invitation_id), {})

    async def revoke_key(self, key_id: str, /) -> types.KeyResponse:
        """It opens nothing from now on."""
        return await self._call(operations.REVOKE_KEY, (key_id,), {})

    async def revoke_key_of_job(self, job: str, job_key_id: str, /) -> types.KeyResponse:
        """It opens nothing from now on."""
        return await self._call(operations.REVOKE_KEY_OF_JOB, (job, job_key_id), {})

    async def revoke_virtual_key(
        self, account: str, virtual_key_id: str, /
    ) -> types.VirtualKeyResponse:
        """Its secret is forgotten."""
        return await self._call(operations.REVOKE_VIRTUAL_KEY, (account, virtual_key_id), {})

    async def rotate_key(
        self, key_id: str, /, **fields: Unpack[types.KeyRotationBody]
    ) -> types.CreatedKeyResponse:
        """A new key in the place of another, with the same user, name, scopes and jobs."""
        return await self._call(operations.ROTATE_KEY, (key_id,), fields)

    async def run_now(self, endpoint: str, /) -> types.RequestedRunResponse:
        """A run now, whatever min and pause say; 409 while one is in flight."""
        return await self._call(operations.RUN_NOW, (endpoint,), {})

    async def run_schedule(self, schedule: str, /) -> types.SlotResponse:
        """Now, in a slot of its own; refused under `forbid` while a run is under way."""
        return await self._call(operations.RUN_SCHEDULE, (schedule,), {})

    async def runs_of_session(
        self, session_id: str, /, **fields: Unpack[types.RunsOfSessionFields]
    ) -> types.SessionRunsResponse:
        """The runs whose slots its hints and pauses chose, the oldest first."""
        return await self._call(operations.RUNS_OF_SESSION, (session_id,), fields)

    async def search(self, **fields: Unpack[types.SearchFields]) -> types.SearchResponse:
        """Jobs, endpoints, runs by their error or status code, and sessions by their reasoning: of runs and sessions those of the last seven days."""
        return await self._call(operations.SEARCH, (), fields)

    async def set_default_key(
        self, account: str, virtual_key_id: str, /
    ) -> types.VirtualKeyResponse:
        """Calls to its api are made with it from now on."""
        return await self._call(operations.SET_DEFAULT_KEY, (account, virtual_key_id), {})

    async def start_every_planner(self) -> types.SwitchedResponse:
        """In the tenants that were stopped from here; one that has stopped its own stays stopped."""
        return await self._call(operations.START_EVERY_PLANNER, (), {})

    async def start_planner(self) -> types.PlannerSwitchResponse:
        """With exactly the modes that were, but for those that somebody has set since."""
        return await self._call(operations.START_PLANNER, (), {})

    async def stop_every_planner(
        self, **fields: Unpack[types.StopPlannerBody]
    ) -> types.SwitchedResponse:
        """In every tenant."""
        return await self._call(operations.STOP_EVERY_PLANNER, (), fields)

    async def stop_planner(
        self, **fields: Unpack[types.StopPlannerBody]
    ) -> types.PlannerSwitchResponse:
        """No rule, detector or model acts or advises, whatever modes a job has."""
        return await self._call(operations.STOP_PLANNER, (), fields)

    async def take_role_for_job(self, job: str, user_id: str, /) -> types.JobPersonResponse:
        """What they have elsewhere stays."""
        return await self._call(operations.TAKE_ROLE_FOR_JOB, (job, user_id), {})

    async def test_channel(self, channel_id: str, /) -> types.DeliveryResponse:
        """Sends a message through a notifier; read the delivery to see how that ended."""
        return await self._call(operations.TEST_CHANNEL, (channel_id,), {})

    async def test_endpoint(self, endpoint: str, /) -> types.TestCallResponse:
        """Call the target once, now."""
        return await self._call(operations.TEST_ENDPOINT, (endpoint,), {})

    async def test_webhook(self, webhook_id: str, /) -> types.DeliveryResponse:
        """Sends `webhook.test` through a notifier; read the delivery to see how that ended."""
        return await self._call(operations.TEST_WEBHOOK, (webhook_id,), {})

    async def verify_ledger(self, account: str, /) -> types.LedgerCheckResponse:
        """Whether the balance is the sum of the ledger, entry by entry, and every charge is in it."""
        return await self._call(operations.VERIFY_LEDGER, (account,), {})
