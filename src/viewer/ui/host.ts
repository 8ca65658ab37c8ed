/**
 * What the viewer needs from its environment. The DevTools panel, a tab, the Lab, and the tests
 * each provide one. The viewer itself doesn't depend on an extension.
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
  /** A start or stop is pending. */
  busy: boolean;
  /** What the recording covers, for the title: an origin. '' = none. */
  origin: string;
  /** Why the last command failed, with what to do; null = it succeeded. */
  error: string | null;
  /** Sites that the user lets us access; null or absent if that isn't known. */
  access?: PageAccess | null;
  /** Other tabs of its origin that the user should know about. */
  tabs?: OriginTabs | null;
  /** How its policies affect workers. */
  policy?: PagePolicy;
}

/** What a recording may access in the inspected page. */
export interface PageAccess extends SiteAccess {
  /** Allowed since the page was loaded: these are recorded from its next load on. */
  afterReload: string[];
}

export type SlowdownListener = (slowdown: Slowdown) => void;
export type StorageListener = (when: 'start' | 'stop', health: StorageHealth) => void;

/**
 * Nothing is written, locked, or run in the page. Both throw an Error with a message for the user.
 */
interface DatabaseAccess {
  list(): Promise<PageDatabases>;
  /** @returns its bytes, and those of its write-ahead log */
  copy(database: PageDatabase): Promise<{ main: Blob; wal: Blob | null }>;
}

/** The host's record button: present if there is a page to record. */
export interface RecorderControl {
  /**
   * Start recording. Resolves once the hooks are in place (and the page is reloading, if
   * requested). `capture` defaults to the settings.
   */
  start(options: {
    scope: RecordingScope;
    reload: boolean;
    /** With `reload` for the whole origin: its other tabs reload, too. */
    others?: boolean;
    capture?: CaptureOptions;
  }): Promise<void>;
  /**
   * Ask every thread to stop. The threads' last batches arrive on their ports before or shortly
   * after this resolves.
   */
  stop(): Promise<void>;
  /**
   * Ask the user for access to sites. Call only within a click or a key press.
   * @returns `asked`: the request opened in a new tab; `access` of the status shows the result
   */
  allow?(wanted: AccessWanted): Promise<'granted' | 'refused' | 'asked'>;
  /** Reload the page with policies that let its workers be recorded, while this recording runs. */
  widenPolicy?(): void;
  /** Reload these `tabs`. */
  reloadTabs?(): void;
  /** Show this panel in a separate window, which needs no DevTools. Absent if it is in one. */
  openWindow?(): void;
  /**
   * What the inspected page stores. Absent if it can't be looked at. @throws without access to the
   * page
   */
  lookAtPage?(): Promise<PageStorage>;
  /**
   * Everything that Doctor shows, or only its locks and quota again. Absent if the page can't be
   * looked at. Both throw an Error with a message for the user.
   */
  doctor?: { look(): Promise<PageLook>; state(): Promise<PageState> };
  /** Databases that the page stores, and a copy of one. Absent if the page can't be looked at. */
  databases?: DatabaseAccess;
  subscribe(listener: (status: RecordingStatus) => void): () => void;
  /**
   * Each recorded page hands over a MessagePort that carries ThreadMessage and ThreadCommand; the
   * viewer passes it to its worker.
   */
  onPort(listener: (port: MessagePort) => void): () => void;
  /**
   * What the browser reports about the page's storage, at the start and the end of a recording.
   * Absent if it can't be asked.
   */
  onStorage?(listener: StorageListener): () => void;
  /**
   * How much slower the page runs because of DevTools, when a recording stops. Absent if it can't
   * be timed.
   */
  onSlowdown?(listener: SlowdownListener): () => void;
  /** DevTools are open on the page; null = not known. */
  devtools: boolean | null;
}

/** The Performance panel of the DevTools around this viewer. */
export interface PerformancePanel {
  /**
   * @param listener called with true when it starts to record, with false when it stops @returns
   * stops listening
   */
  watch(listener: (records: boolean) => void): () => void;
  /** Add these to its recording. @throws Error with a message for the user */
  show(marks: readonly PerformanceMark[]): Promise<void>;
}

export interface ViewerHost {
  /** null: a viewer for files only. */
  recorder: RecorderControl | null;
  /** 'auto' follows prefers-color-scheme. */
  theme: 'light' | 'dark' | 'auto';
  /** Distinguishes this viewer's disk spool from that of other panels: the tab's id or a name. */
  spoolKey: string;
  /** URL of the store worker's script. */
  workerUrl: string;
  /** Stores the user's choices permanently. Without it, choices last as long as the viewer. */
  settings?: SettingsKeeper;
  /**
   * Address of the Lab that tries a finding at once: its experiment (Finding.tryInLab) and its
   * rule; absent if there is no Lab.
   */
  lab?: (experiment: string, rule: string) => string;
  /**
   * Address of the Lab that takes this viewer's trace (ViewerHandle.copy) to replay it; absent if
   * there is no Lab.
   */
  replayInLab?: string;
  /**
   * Address of the Lab that offers to copy a database of the inspected page. The page's origin is
   * appended as `site`. Absent without a page or a Lab.
   */
  copyToLab?: string;
  /** A recording to show first; absent if there is none. @throws if it can't be read */
  example?: () => Promise<Blob>;
  /** null: the browser's DevTools don't report it. Absent outside DevTools. */
  performancePanel?: PerformancePanel | null;
  /** Offer a file to the user for download. Whether it is saved may remain unknown. */
  saveFile(name: string, data: Blob): Promise<void> | void;
}

export interface ViewerHandle {
  /** Load a trace file as if the user had chosen it. */
  open(file: Blob, name: string): Promise<void>;
  /** The same for a file that is still loading. If loading fails, a notice shows why. */
  openFrom(load: () => Promise<Blob>, name: string): Promise<void>;
  /**
   * The current trace as a .vfst file, even during a recording. @throws Error with a message for
   * the user if there is none
   */
  copy(): Promise<{ file: Blob; name: string; recording: boolean }>;
  /** Load a second trace, and show both in Compare. */
  compareWith(file: Blob, name: string): Promise<void>;
  destroy(): void;
}
