"""Every port over the same tables."""

from cadenza.adapters.memory.accounts import MemoryAccounts, MemorySigningKeys
from cadenza.adapters.memory.activity import MemoryActivityReads
from cadenza.adapters.memory.analysis_queue import MemoryAnalysisQueue
from cadenza.adapters.memory.awaited_results import MemoryResults
from cadenza.adapters.memory.billing import MemoryBilling
from cadenza.adapters.memory.catalogue import MemoryCatalogue
from cadenza.adapters.memory.claims import MemoryClaims
from cadenza.adapters.memory.deliveries import MemoryNotificationReads
from cadenza.adapters.memory.grants import MemoryGrants
from cadenza.adapters.memory.ids import MemoryIds
from cadenza.adapters.memory.people import MemoryPeople
from cadenza.adapters.memory.planner_rows import MemorySuggestions
from cadenza.adapters.memory.planner_stops import MemoryPlannerStops
from cadenza.adapters.memory.purses import MemoryPurses
from cadenza.adapters.memory.records import MemoryEventLog, MemoryRecords
from cadenza.adapters.memory.run_authors import MemoryRunAuthors
from cadenza.adapters.memory.run_reads import MemoryLatestAnswers, MemoryRunReads
from cadenza.adapters.memory.schedules import MemoryScheduleReads
from cadenza.adapters.memory.score import MemoryScoreReads
from cadenza.adapters.memory.sign_ins import MemorySignIns
from cadenza.adapters.memory.steering_history import MemorySteeringReads
from cadenza.adapters.memory.store import MemoryStore
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.memory.usage import MemoryReadiness, MemoryUsage
from cadenza.adapters.memory.workers import MemoryWorkers


class MemoryStores:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.store = MemoryStore(tables)
        self.claims = MemoryClaims(tables)
        self.analysis_queue = MemoryAnalysisQueue(tables)
        self.suggestions = MemorySuggestions(tables)
        self.purses = MemoryPurses(tables)
        self.run_authors = MemoryRunAuthors(tables)
        self.planner_stops = MemoryPlannerStops(tables)
        self.catalogue = MemoryCatalogue(tables)
        self.runs = MemoryRunReads(tables)
        self.records = MemoryRecords(tables)
        self.usage = MemoryUsage(tables)
        self.readiness = MemoryReadiness()
        self.event_log = MemoryEventLog(tables)
        self.latest_answers = MemoryLatestAnswers(tables)
        self.accounts = MemoryAccounts(tables)
        self.signing_keys = MemorySigningKeys(tables)
        self.schedules = MemoryScheduleReads(tables)
        self.billing = MemoryBilling(tables)
        self.grants = MemoryGrants(tables)
        self.workers = MemoryWorkers(tables)
        self.sign_ins = MemorySignIns(tables)
        self.people = MemoryPeople(tables)
        self.ids = MemoryIds(tables)
        self.steering = MemorySteeringReads(tables)
        self.scores = MemoryScoreReads(tables)
        self.activity = MemoryActivityReads(tables)
        self.notifications = MemoryNotificationReads(tables)
        self.results = MemoryResults(tables)
