/** Questions and answers of the Overview. */
import type { CallCheck } from '../../analysis/below/call-check.ts';
import type { DatabaseSettings } from '../../analysis/pages/database-settings.ts';
import type { HeadlineNumber } from '../../analysis/numbers/headline-numbers.ts';
import type { SummaryEngine, SummaryEnvironment } from '../../analysis/report/summary.ts';
import type { OriginStorage } from '../../analysis/files/storage-health.ts';
import type { TimePartition } from '../../analysis/time/time-partition.ts';
import type { EngineInfo } from '../../event/definitions.ts';

export interface ThreadPartition {
  thread: number;
  title: string;
  partition: TimePartition;
  /** SQL or VFS calls were recorded on it. */
  sqlite: boolean;
}

/** IndexedDB readwrite transactions by requested durability. */
export interface Durability {
  default: number;
  strict: number;
  relaxed: number;
}

export interface Overview {
  environment: SummaryEnvironment;
  engines: (SummaryEngine & Pick<EngineInfo, 'suspension'>)[];
  /** The trace's name for the thread of each engine, by engine id. */
  threadTitles: Record<string, string>;
  databases: DatabaseSettings[];
  durability: Durability;
  /** The browser's report about the storage of each origin; [] where it wasn't asked. */
  storage: OriginStorage[];
  numbers: HeadlineNumber[];
  /** Whether the browser counts the same number of storage calls; null where it wasn't asked. */
  callCheck: CallCheck | null;
}
