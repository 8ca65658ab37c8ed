/**
 * Every question that a view can ask about the trace, by name, with its arguments and its answer.
 * `viewer/session` answers them and `viewer/ui` asks. Answers must survive structured clone.
 */
import type { Headline } from '../../analysis/answer/headline.ts';
import type { Worst } from '../../analysis/answer/worst.ts';
import type { Scope } from '../../analysis/core/scope.ts';
import type { Absences } from '../../analysis/core/absences.ts';
import type { FailedCalls } from '../../analysis/errors/failed-calls.ts';
import type { CallStory } from '../../analysis/events/call-story.ts';
import type { RequestDetails } from '../../analysis/messages/request-details.ts';
import type { IoMap, IoMapRequest, IoObject } from '../../analysis/files/io-map.ts';
import type { PageMatrix } from '../../analysis/pages/page-matrix.ts';
import type { SlowRuns } from '../../analysis/statements/slow-runs.ts';
import type { AreaBy } from '../../analysis/time/area.ts';
import type { TimePartition } from '../../analysis/time/time-partition.ts';
import type { CheckpointChoices } from '../../analysis/what-if/checkpoint-choices.ts';
import type { Layer } from '../../event/operations.ts';
import type { BusyStrip, TabCounts, TimeStrip } from './answer.ts';
import type { CacheAnswer, CacheCurve, CacheTimes } from './cache.ts';
import type { CompareArgs, Comparison, Strips } from './compare.ts';
import type { EvidenceArgs, EvidencePlaces } from './evidence.ts';
import type { OperationCount } from './events.ts';
import type { FileLine, FileScope } from './files.ts';
import type { Findings } from './findings.ts';
import type { FlameRequest, MeasuredFlames } from './flame.ts';
import type { LoadLine } from './load-times.ts';
import type { FrameArgs, LockTrack } from './lock-lanes.ts';
import type { LocksAnswer } from './locks.ts';
import type { Overview, ThreadPartition } from './overview.ts';
import type {
  PageMapRequest,
  FoundEvents,
  PlacesKey,
  PlacesRange,
  PlacesTable,
  StatementTree,
  TreeUseAnswer,
} from './pages.ts';
import type { PaletteItem } from './palette.ts';
import type { PerformanceMarks, PerformanceTracksArgs } from './performance-tracks.ts';
import type { FileEventsRequest, FileUse } from './patterns.ts';
import type { CopyRequest } from './copies.ts';
import type { CopiedRows, CopiedSchema } from '../../plan/read-rows.ts';
import type { PlanRequest, SchemaRequest } from './plans.ts';
import type { SqlAnswer, SqlRequest, SqlTableInfo } from './sql.ts';
import type { StatementPlan } from '../../plan/types.ts';
import type { StaleLine } from './stale-caches.ts';
import type { MeasuredStatements, RunsArgs, SlowRunsArgs, StatementRuns } from './statements.ts';
import type { MarksArgs, StatementMarks } from './statement-marks.ts';
import type { Flows } from './timeline-flows.ts';
import type { SearchAnswer, SearchArgs } from './timeline-search.ts';
import type { AnnotationsAnswer, AreaAnswer } from './timeline.ts';
import type { TransactionDetails, TransactionLines, TransactionSum } from './transactions.ts';
import type { WalLog } from './wal.ts';
import type { LaneSetup, TraceNote } from '../../trace/notes.ts';
import type { EventRef } from '../../trace/store.ts';

export type Queries = {
  performanceTracks: { args: PerformanceTracksArgs; answer: PerformanceMarks };
  absences: { args: object; answer: Absences };
  transactions: { args: Pick<Scope, 'thread' | 'statement' | 'table'>; answer: TransactionLines };
  commitsTogether: { args: Omit<Scope, 'part'>; answer: TransactionSum };
  locks: { args: object; answer: LocksAnswer };
  wal: { args: Record<string, never>; answer: WalLog[] };
  checkpointChoices: { args: Record<string, never>; answer: readonly CheckpointChoices[] };
  statements: { args: Scope; answer: MeasuredStatements | null };
  flameGraph: { args: FlameRequest; answer: MeasuredFlames | null };
  fileLines: { args: FileScope; answer: FileLine[] };
  staleCaches: { args: Record<string, never>; answer: StaleLine[] };
  cacheCurves: { args: Record<string, never>; answer: CacheCurve[] };
  loadTimes: { args: object; answer: LoadLine[] };
  errors: { args: Omit<Scope, 'part'>; answer: FailedCalls };
  operations: { args: object; answer: OperationCount[] };
  callStory: { args: EventRef; answer: CallStory | null };
  requestDetails: { args: EventRef; answer: RequestDetails | null };
  headline: { args: object; answer: Headline };
  narrowedHeadline: { args: Omit<Scope, 'part'>; answer: Headline };
  worst: { args: Scope; answer: Worst };
  tabCounts: { args: object; answer: TabCounts };
  busyStrip: { args: { width: number; fold: number }; answer: BusyStrip };
  longPauses: { args: object; answer: { from: number; to: number }[] };
  timeStrip: {
    args: { thread: number; fromUs: number; toUs: number; columns: number };
    answer: TimeStrip | null;
  };
  overview: { args: object; answer: Overview };
  findings: { args: object; answer: Findings };
  paletteItems: { args: { words: string[]; limit: number }; answer: PaletteItem[] };
  firstEvent: { args: { thread: number }; answer: EventRef | null };
  compareStrips: {
    args: CompareArgs & { width: number; oneScale: boolean };
    answer: Strips | null;
  };
  compareSources: { args: object; answer: { other: string | null; previous: string | null } };
  comparison: { args: Partial<CompareArgs>; answer: Comparison | null };
  agentText: { args: { rule: string }; answer: string };
  markdownReport: { args: object; answer: string };
  threadPartitions: { args: { fromUs?: number; toUs?: number }; answer: ThreadPartition[] };
  cache: { args: object; answer: CacheAnswer };
  cacheTimes: { args: { bins: number }; answer: CacheTimes };
  sqlTables: { args: Record<string, never>; answer: SqlTableInfo[] };
  sqlRun: { args: SqlRequest; answer: SqlAnswer };
  sqlCsv: { args: SqlRequest; answer: Blob };
  sqlCancel: { args: { id: number }; answer: null };
  fileUse: { args: Pick<FileLine, 'path' | 'kind' | 'origin'>; answer: FileUse };
  fileEvents: { args: FileEventsRequest; answer: FoundEvents };
  pageMap: { args: PageMapRequest; answer: PageMatrix | null };
  pageTable: { args: PlacesRange & { key: PlacesKey }; answer: PlacesTable | null };
  placeEvents: {
    args: PlacesRange & { key: PlacesKey; fromPlace: number; toPlace: number };
    answer: FoundEvents;
  };
  treeUse: { args: PlacesRange & { key: PlacesKey }; answer: TreeUseAnswer | null };
  statementTrees: {
    args: { text: string | null; fromUs?: number; toUs?: number };
    answer: StatementTree[];
  };
  lockFrame: { args: FrameArgs; answer: LockTrack[] };
  statementText: { args: { text: string }; answer: string | null };
  statementRuns: { args: RunsArgs; answer: StatementRuns };
  slowRuns: { args: SlowRunsArgs; answer: SlowRuns };
  statementPlan: { args: PlanRequest; answer: StatementPlan | null };
  readSchema: { args: SchemaRequest; answer: null };
  copyObjects: { args: CopyRequest; answer: CopiedSchema };
  copyRows: { args: CopyRequest & { table: string }; answer: CopiedRows };
  timeBetween: {
    args: { thread: number; fromUs: number; toUs: number };
    answer: TimePartition | null;
  };
  transaction: { args: EventRef; answer: TransactionDetails | null };
  transactionOf: { args: EventRef; answer: EventRef | null };
  statementMarks: { args: MarksArgs; answer: StatementMarks | null };
  evidencePlaces: { args: EvidenceArgs; answer: EvidencePlaces };
  timelineFlows: { args: EventRef; answer: Flows };
  timelineSearch: { args: SearchArgs; answer: SearchAnswer };
  timelineHit: {
    args: { text: string; from: EventRef | null; us: number; by: 1 | -1 };
    answer: EventRef | null;
  };
  timelineNeighbor: { args: EventRef & { by: 1 | -1 }; answer: EventRef | null };
  annotations: { args: Record<string, never>; answer: AnnotationsAnswer };
  setAnnotations: {
    args: { trace: number; notes?: TraceNote[]; lanes?: LaneSetup };
    answer: AnnotationsAnswer;
  };
  ioObjects: { args: Record<string, never>; answer: IoObject[] };
  ioMap: { args: IoMapRequest; answer: IoMap };
  ioAt: {
    args: { key: string; us: number; slackUs: number; offset: number; slack: number };
    answer: EventRef | null;
  };
  timelineArea: {
    args: { fromUs: number; toUs: number; by: AreaBy; threadsOff: number[]; layers: Layer[] };
    answer: AreaAnswer;
  };
};
export type QueryName = keyof Queries;
export type QueryArgs<N extends QueryName> = Queries[N]['args'];
export type QueryAnswer<N extends QueryName> = Queries[N]['answer'];
