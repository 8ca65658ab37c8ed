/**
 * What the viewer asks of the place that it runs in. The DevTools panel, a tab, the Lab and the tests each supply one; the
 * viewer itself knows no extension.
 */
import type {
  AccessWanted,
  OriginTabs,
  PagePolicy,
  RecordingScope,
  SiteAccess,
} from '../../protocol/messages.ts';
import type { PerformanceMark } from '../../protocol/answers/performance-tracks.ts';
import type { PageDatabase, PageDatabases } from '../../protocol/page-copy.ts';
import type { PageLook } from '../../protocol/page-look.ts';
import type { PageState } from '../../protocol/page-state.ts';
import type { PageStorage } from '../../protocol/page-storage.ts';
import type { CaptureOptions } from '../../event/capture.ts';
import type { Slowdown } from '../../event/conditions.ts';
import type { StorageHealth } from '../../event/storage-health.ts';
import type { SettingsKeeper } from './settings.ts';

export interface RecordingStatus {
  recording: boolean;
  /** A start or stop is on its way. */
  busy: boolean;
  /** What the recording covers, for the title: an origin. '' when none. */
  origin: string;
  /** The last command's failure, with what to do; null when it went well. */
  error: string | null;
  /** Which sites the user lets us into; null or absent where that is not known. */
  access?: PageAccess | null;
  /** Other tabs of its origin that the user should know of. */
  tabs?: OriginTabs | null;
  /** What its policies do to workers. */
  policy?: PagePolicy;
}

/** What a recording may enter of the inspected page. */
export interface PageAccess extends SiteAccess {
  /** Allowed since the page was loaded: these are recorded from its next load on. */
  afterReload: string[];
}

export type SlowdownListener = (slowdown: Slowdown) => void;
export type StorageListener = (when: 'start' | 'stop', health: StorageHealth) => void;

/** Nothing is written, locked, or run in the page. Both throw an Error with a message for the user. */
interface DatabaseAccess {
  list(): Promise<PageDatabases>;
  /** @returns its bytes, and those of its write-ahead log */
  copy(database: PageDatabase): Promise<{ main: Blob; wal: Blob | null }>;
}

/** The host's record button: present where there is a page to record. */
export interface RecorderControl {
  /** Begin recording; resolves once the hooks are in place (and the page is reloading, if asked). Without `capture`, what the settings say. */
  start(options: {
    scope: RecordingScope;
    reload: boolean;
    /** With `reload`, and of the whole origin: its other tabs load again, too. */
    others?: boolean;
    capture?: CaptureOptions;
  }): Promise<void>;
  /** Ask every thread to stop. The threads' last batches arrive on their ports before or shortly after this resolves. */
  stop(): Promise<void>;
  /**
   * Ask the user for access to sites, from inside a click or a key press only.
   * @returns `asked`: in a tab of its own; `access` of the status says what became of it
   */
  allow?(wanted: AccessWanted): Promise<'granted' | 'refused' | 'asked'>;
  /** Load the page again with policies that let its workers be recorded, while this recording runs. */
  widenPolicy?(): void;
  /** Load those of `tabs` again. */
  reloadTabs?(): void;
  /** Show this panel in its own window, which needs no DevTools. Absent where it is in one. */
  openWindow?(): void;
  /** What the inspected page stores. Absent where it cannot be looked at. @throws without access to the page */
  lookAtPage?(): Promise<PageStorage>;
  /** All that Doctor shows, and its locks and quota alone, again. Absent where the page can't be looked at. Both throw an Error with a message for the user. */
  doctor?: { look(): Promise<PageLook>; state(): Promise<PageState> };
  /** Databases that the page stores, and a copy of one. Absent where the page can't be looked at. */
  databases?: DatabaseAccess;
  subscribe(listener: (status: RecordingStatus) => void): () => void;
  /** Each recorded page hands over a MessagePort that carries ThreadMessage and ThreadCommand; the viewer passes it to its worker. */
  onPort(listener: (port: MessagePort) => void): () => void;
  /** What the browser says of the storage of the page, at the begin and the end of a recording. Absent where it cannot be asked. */
  onStorage?(listener: StorageListener): () => void;
  /** How much slower the page runs than it would by itself, when a recording stops. Absent where it cannot be timed. */
  onSlowdown?(listener: SlowdownListener): () => void;
  /** DevTools are open on the page; null = not known. */
  devtools: boolean | null;
}

/** The Performance panel of the DevTools that this viewer is in. */
export interface PerformancePanel {
  /** @param listener called with true when it starts to record, with false when it stops @returns stops listening */
  watch(listener: (records: boolean) => void): () => void;
  /** Add these to its recording. @throws Error with a message for the user */
  show(marks: readonly PerformanceMark[]): Promise<void>;
}

export interface ViewerHost {
  /** null: a viewer of files only. */
  recorder: RecorderControl | null;
  /** 'auto' follows prefers-color-scheme. */
  theme: 'light' | 'dark' | 'auto';
  /** Distinguishes this viewer's disk spool from that of other panels: the tab's id or a name. */
  spoolKey: string;
  /** URL of the store worker's script. */
  workerUrl: string;
  /** Keeps what the user chose for good; without it choices last as long as the viewer. */
  settings?: SettingsKeeper;
  /** Address of the Lab that tries a finding at once: its experiment (Finding.tryInLab) and its rule; absent where there is no Lab to go to. */
  lab?: (experiment: string, rule: string) => string;
  /** Address of the Lab that takes this viewer's trace (ViewerHandle.copy) to replay it; absent where there is no Lab. */
  replayInLab?: string;
  /** Address of the Lab that offers to copy a database of the inspected page, to which the page's origin is added as `site`; absent where there is no page, or no Lab. */
  copyToLab?: string;
  /** A recording to look at first; absent where there is none. @throws where it cannot be read */
  example?: () => Promise<Blob>;
  /** null: the browser's DevTools don't report it. Absent outside DevTools. */
  performancePanel?: PerformancePanel | null;
  /** Give a file to the browser to save. Whether it does may remain unknown. */
  saveFile(name: string, data: Blob): Promise<void> | void;
}

export interface ViewerHandle {
  /** Load a trace file as if the user had chosen it. */
  open(file: Blob, name: string): Promise<void>;
  /** The same with one that has yet to come; where it doesn't, a notice reports why. */
  openFrom(load: () => Promise<Blob>, name: string): Promise<void>;
  /** The trace as it is now, also while it is recorded, as a .vfst file. @throws Error with a message for the user where there is none */
  copy(): Promise<{ file: Blob; name: string; recording: boolean }>;
  /** Load a second trace beside it, and show both in Compare. */
  compareWith(file: Blob, name: string): Promise<void>;
  destroy(): void;
}
