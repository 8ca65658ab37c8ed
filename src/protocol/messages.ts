/**
 * Every message between contexts, its guard, and the protocol's version. Contexts meet only here.
 *
 *   hook (page, worker) <--MessagePort--> panel's journal worker    ThreadMessage / ThreadCommand (and on to its store worker)
 *   hook (page) <--MessagePort--> content script                    PageMessage / ContentMessage
 *   content script <--runtime messages--> background                Ask / Answer, and Tell
 *   content script -> frame -> hub -> panel                         FrameMessage, LineMessage, HandoverMessage (hand the hook's port over)
 *   content script <--runtime.Port--> background <--> panel         RelayMessage, where that is not possible
 *   panel <--runtime.Port--> background                             PanelMessage / BackgroundMessage
 *
 * What comes from a page is untrusted: anything there can post to our listeners. Every receiver
 * calls the guard first.
 */
import type { Refusal } from './page-policy.ts';
import type { Batch } from '../event/batch.ts';
import type { CaptureOptions } from '../event/capture.ts';
import type { Slowdown } from '../event/conditions.ts';
import type { StorageHealth } from '../event/storage-health.ts';
import { RECORD_BYTES } from '../event/event.ts';
import { checkedDefinition, MAX_TEXT } from '../event/definition-check.ts';
import { THREAD_KINDS, type Definition, type ThreadKind } from '../event/definitions.ts';

/**
 * Raised with every change that an older end would misread.
 * 1: the first.
 */
export const PROTOCOL_VERSION = 1;

/** The mark that distinguishes our messages from the app's. */
export const MARK = 'vfscope';

// ---- hook <-> store worker, over the handed-over port ------------------------------------------------------------------

export interface ThreadIdentity {
  /** Drawn at random by the hook; unique in a recording. */
  id: string;
  kind: ThreadKind;
  /** URL of the document or of the worker's script. */
  url: string;
  /** The worker's `name` option, or ''. */
  name: string;
  /** Thread that created this one; null for a top-level page. */
  parent: string | null;
}

/** Why nothing more comes from a thread. */
const END_REASONS = ['stopped', 'pagehide', 'closed', 'terminated'] as const;
export type EndReason = (typeof END_REASONS)[number];
export type ThreadMessage =
  | { k: 'hello'; protocol: number; thread: ThreadIdentity; timeOrigin: number }
  | { k: 'batch'; batch: Batch }
  /** Carries the port of a new worker in `ports[0]`; that port says its own hello. */
  | { k: 'child' }
  /**
   * The thread is ending: nothing follows on this port. `unheard`: its creator reports this for it,
   * and its last records may be lost.
   */
  | { k: 'bye'; thread: string; reason: EndReason; unheard?: true };

export type ThreadCommand =
  /** `records`: total number of this thread's records received so far. */
  | { k: 'ack'; thread: string; records: number }
  /** Stop recording: send the rest, say bye, restore everything. */
  | { k: 'stop' };

// ---- page <-> content script -------------------------------------------------------------------------------------------

/**
 * Type of the window events by which the two scripts find each other, whichever comes first. The
 * hook's event has a port in `ports[0]`, the content script's has none. No app listens for this
 * type, and what follows goes over that port. Both scripts hold the port, so events dispatched on
 * it ask for what must be known at once (page-policy.ts).
 */
export const CONTACT = 'vfscope';
/**
 * Event on the hook's line: `data` is the address of a worker script that the page is about to
 * start.
 */
export const WORKER = 'worker';
/**
 * Why a SharedWorker isn't recorded although our script can run in it. The panel offers to reload
 * its pages.
 */
export const SHARED_WAS_RUNNING =
  'it may have been running before the recording began. Reload every tab that uses it while you record.';
/** Hook -> content script; `ports[0]` is the end that the panel gets. */
export type PageMessage = { k: 'offer' } | ({ k: 'shared'; n: number } & SharedAsk);
/**
 * Which blob: URL do the pages of this origin start a SharedWorker from? `key` identifies the
 * worker, `url` is the one that this page made, and `dead` are URLs that failed for it. A `url` in
 * `dead` means that no page can start one; an empty `url` means that this page makes none. The
 * answer is a URL; '' = it runs natively, SHARED_MISMATCH = it fails. Without `traits`, the worker
 * runs natively, or will where the page is `closed` to ours; SHARED_WAIT = ask again, after the
 * pages that hold one of ours have gone.
 */
export interface SharedAsk {
  key: string;
  /** Type and credentials. */
  traits: string;
  url: string;
  dead: string[];
  /** The page's policies refuse all of our URLs. */
  closed?: boolean | undefined;
}
/**
 * Content script -> hook. `recorded`: this tab is recorded and the port is on its way. `restore`:
 * this tab isn't recorded; with `joins`, its SharedWorkers are shared with pages that are or were
 * recorded.
 */
export type ContentMessage =
  | { k: 'recorded' | 'connected' | 'no-panel' }
  | { k: 'restore'; joins?: boolean }
  | { k: 'shared'; n: number; url: string };

// ---- content script and handover frame <-> background ------------------------------------------------------------------

/**
 * When our script first runs in a document: the document has just begun, or its own scripts may
 * have run before. `known`: it asks again, or can't tell.
 */
export type DocumentState = 'new' | 'late' | 'known';
/**
 * `redeem` comes from the handover frame: which panel does this token lead to? `recording?` comes
 * from the popup: which recording covers this tab? The answer is a RecordingState or null. `frame`:
 * the page has loaded a frame of another origin; the answer is null.
 */
export type Ask =
  /** `reloads`: it is the previous document, reloaded. */
  | { k: 'recorded?'; document: DocumentState; reloads: boolean }
  | { k: 'redeem'; token: string }
  | { k: 'recording?'; tabId: number }
  /**
   * From a page of ours: this tab navigates there next. The answer is `true` once a recording of
   * that tab is ready.
   */
  | { k: 'expects'; tabId: number; url: string }
  | { k: 'frame'; origin: string }
  | ({ k: 'shared' } & SharedAsk);
export interface Answer {
  recorded: boolean;
  /** When that recording began, ms since the epoch: tells it from the tab's next one. */
  since: number;
  tabId: number;
  /**
   * One-time token that gives the handover frame access to the panel. Only our content script gets
   * it, so a page that loads the frame itself can't hand over its own port.
   */
  token: string;
  /**
   * 'runtime' sends batches through runtime.Port, for browsers or pages where no port can be handed
   * over.
   */
  transport: 'port' | 'runtime';
  /** What the headers of this document refuse, if they were seen. */
  refused: Refusal[];
  /** SharedWorkers of its origin run with our script. */
  joins: boolean;
}
/** Answer to `redeem`: the tab whose panel records; null = the token isn't valid. */
export type Redeemed = { panel: number } | null;
/** Background -> content scripts of a tab. */
export type Tell =
  | { k: 'restore'; joins: string[] }
  /** Does a content script listen there? The answer is a boolean. */
  | { k: 'here?' }
  /**
   * Has a hook of ours connected there, even if only for SharedWorkers? The answer is a boolean.
   */
  | { k: 'hooked?' }
  /**
   * Has the page asked for a worker with this script, without an integrity check? The answer is a
   * boolean.
   */
  | { k: 'worker?'; url: string };

/**
 * Content script -> handover frame, once. `line` = `ports[0]`, which carries everything after this.
 */
export type FrameMessage = { k: 'token'; token: string };
/**
 * On that line, the frame answers `ready` or `no-panel`. Then `port` comes with the page's port,
 * and `handed`.
 */
export type LineMessage =
  { k: 'there' } | { k: 'ready' } | { k: 'no-panel' } | { k: 'port' } | { k: 'handed' };

// ---- content script <-> panel where no MessagePort can be handed over ----------------------------------------------------

/**
 * Name of the runtime.Port over which a content script relays; `source` is drawn by the content
 * script.
 */
export const relayPortName = (source: string): string => `relay:${source}`;
/** The content of a relay. `channel` identifies the page's port that the relay stands in for. */
export type RelayBody =
  | { k: 'open'; channel: string }
  | { k: 'data'; channel: string; data: ThreadMessage | ThreadCommand; child?: string };
/**
 * Numbered, so that what a dying service worker lost is sent again. `n` counts from 1, and `seen`
 * acknowledges the other direction. Without a body: resend everything after `seen`.
 */
export interface RelayMessage {
  k: 'relay';
  source: string;
  n: number;
  seen: number;
  body: RelayBody | null;
}

// ---- frame -> hub -> panel ---------------------------------------------------------------------------------------------

/**
 * `panel`: the tab of the panel that sends or receives this. `port` carries the page's port in
 * `ports[0]`.
 */
export type HandoverMessage =
  | { k: 'register'; panel: number }
  | { k: 'registered' }
  | { k: 'ping' }
  | { k: 'pong' }
  | { k: 'reach'; panel: number }
  | { k: 'ready' }
  | { k: 'no-panel' }
  | { k: 'port'; panel: number }
  | { k: 'handed' };

/**
 * The background's first message on every runtime.Port. Without it, the background is gone, even if
 * the port doesn't show that.
 */
export type Greeting = { k: 'greeting' };
export const isGreeting = (v: unknown): v is Greeting => isObject(v) && v.k === 'greeting';

// ---- panel <-> background ----------------------------------------------------------------------------------------------

/**
 * @param page a random id of the panel's page. It distinguishes a page that reconnects from one
 * opened after it
 */
export const panelPortName = (tabId: number, page: string): string => `panel:${tabId}:${page}`;
export type RecordingScope = 'tab' | 'origin';
export interface RecordingState {
  tabId: number;
  scope: RecordingScope;
  origin: string;
  /** ms since the epoch */
  since: number;
  /** Every tab that is recorded. */
  tabs: number[];
  /** What is captured. */
  capture: CaptureOptions;
}
/** Sites that we ask the user for access to: those of these origins, or all. */
export type AccessWanted = string[] | 'all';
/**
 * Our access to a page of this origin. `frames`: origins of its frames that we can't access. '' =
 * not a web page, or not known.
 */
export interface SiteAccess {
  origin: string;
  granted: 'none' | 'origin' | 'all';
  frames: string[];
}
/**
 * Tabs of the inspected page's origin. `open`: beside it, before a recording. `unseen`: loaded
 * before the recording, so a SharedWorker that they may hold isn't recorded. `held`: they hold a
 * SharedWorker that the previous recording started. `waiting`: their policies keep them from
 * sharing the recorded one.
 */
export interface OriginTabs {
  state: 'open' | 'unseen' | 'held' | 'waiting';
  count: number;
  /** Titles of some of them, from the pages. */
  titles: string[];
}
export type PagePolicy = 'closed' | 'closed-to-shared' | 'open' | 'open-in-all-tabs' | null;
/**
 * `ping` keeps the service worker awake. `start` has the page's origin as the panel knows it,
 * because the browser may hide it from us.
 */
export type PanelMessage =
  | {
      k: 'start';
      scope: RecordingScope;
      reload: boolean;
      /** With `reload`, for the whole origin: its other tabs reload, too. */
      others?: boolean;
      transport: Answer['transport'];
      capture: CaptureOptions;
      origin?: string;
    }
  /** What `policy` reported: see `closed`. */
  | { k: 'widen-policy' }
  /** The tabs that `tabs` reported. */
  | { k: 'reload-tabs' }
  /** Show the panel of this tab in its own window. */
  | { k: 'window' }
  | { k: 'stop' }
  | { k: 'ping' }
  /**
   * The inspected page has this origin and frames of these origins. The answer is `access`, sent at
   * once and after every change.
   */
  | { k: 'page'; origin: string; frames: string[] }
  /** Let the user grant access, in a separate tab. */
  | { k: 'allow'; wanted: AccessWanted }
  | RelayMessage;
export type BackgroundMessage =
  | { k: 'state'; recording: RecordingState | null }
  | { k: 'access'; access: SiteAccess }
  | { k: 'tabs'; tabs: OriginTabs }
  /**
   * The page's policies keep workers from being recorded. They could be widened (`closed`), or are
   * widened for this recording (`open`). If a SharedWorker is among the workers, this applies to
   * all tabs of the origin.
   */
  | { k: 'policy'; policy: PagePolicy }
  /** A page of the recording has a frame of this origin, and we have no access to it. */
  | { k: 'frame'; origin: string }
  /** The browser's report about the storage of the panel's page. */
  | { k: 'storage'; when: 'start' | 'stop'; health: StorageHealth }
  /** How much slower the page ran than without a recording. Sent when the recording stops. */
  | { k: 'slowdown'; slowdown: Slowdown }
  /** A command failed: `message` says what happened and what to do. */
  | { k: 'failed'; message: string }
  | RelayMessage;

// ---- guards ------------------------------------------------------------------------------------------------------------

/** Batches above this size are refused: honest threads send smaller ones. */
const MAX_BATCH_RECORDS = 65536;
const MAX_DEFINITIONS = 65_536;
/** Of a blob: URL: an origin and a UUID. */
const MAX_ADDRESS = 1000;
/** Answer instead of a URL. */
export const SHARED_MISMATCH = 'mismatch';
/** Answer instead of a URL: none yet. */
export const SHARED_WAIT = 'wait';
/** How many URLs of a SharedWorker are tried. */
export const MOST_DEAD = 8;

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isText = (v: unknown, max = 200): v is string => typeof v === 'string' && v.length <= max;
const isCount = (v: unknown): v is number => typeof v === 'number' && Number.isInteger(v) && v >= 0;
const isTime = (v: unknown): v is number => typeof v === 'number' && Number.isFinite(v);

/**
 * Also an array of another realm: a page's messages to a content script come from the page's realm.
 */
const isBuffer = (v: unknown): v is ArrayBuffer =>
  Object.prototype.toString.call(v) === '[object ArrayBuffer]';

function checkedIdentity(v: unknown): ThreadIdentity | null {
  if (!isObject(v)) return null;
  const { id, url, name, parent } = v;
  const kind = THREAD_KINDS.find((one) => one === v.kind);
  if (
    !isText(id, 64) ||
    !kind ||
    !isText(url, MAX_TEXT) ||
    !isText(name, MAX_TEXT) ||
    !(parent === null || isText(parent, 64))
  )
    return null;
  return { id, kind, url, name, parent };
}

function checkedDefinitions(v: unknown): Definition[] | null {
  if (!Array.isArray(v) || v.length > MAX_DEFINITIONS) return null;
  const all: Definition[] = [];
  for (const said of v as unknown[]) {
    const definition = checkedDefinition(said);
    if (!definition) return null;
    all.push(definition);
  }
  return all;
}

function checkedBatch(v: unknown): Batch | null {
  if (!isObject(v)) return null;
  const { thread, first, count, timeOrigin, dropped, faults, records } = v;
  if (
    !isText(thread, 64) ||
    !isCount(first) ||
    !isCount(count) ||
    !isTime(timeOrigin) ||
    !isCount(dropped) ||
    !isCount(faults)
  )
    return null;
  if (
    count > MAX_BATCH_RECORDS ||
    !isBuffer(records) ||
    records.byteLength !== count * RECORD_BYTES
  )
    return null;
  const definitions = checkedDefinitions(v.definitions);
  return definitions && { thread, first, count, timeOrigin, dropped, faults, definitions, records };
}

/**
 * A thread's message, copied field by field, so nothing else gets through. Doesn't check who sent
 * it.
 * @returns null where it isn't well-formed
 */
export function checkedThreadMessage(v: unknown): ThreadMessage | null {
  if (!isObject(v)) return null;
  switch (v.k) {
    case 'hello': {
      const { protocol, timeOrigin } = v;
      const thread = checkedIdentity(v.thread);
      return thread && isCount(protocol) && isTime(timeOrigin)
        ? { k: 'hello', protocol, thread, timeOrigin }
        : null;
    }
    case 'batch': {
      const batch = checkedBatch(v.batch);
      return batch && { k: 'batch', batch };
    }
    case 'child':
      return { k: 'child' };
    case 'bye': {
      const reason = END_REASONS.find((one) => one === v.reason);
      const unheard = v.unheard === true && { unheard: true as const };
      return isText(v.thread, 64) && reason
        ? { k: 'bye', thread: v.thread, reason, ...unheard }
        : null;
    }
    default:
      return null;
  }
}

export const isThreadMessage = (v: unknown): v is ThreadMessage => checkedThreadMessage(v) !== null;

/** A command to a thread, copied field by field. @returns null where it isn't well-formed */
export function checkedThreadCommand(v: unknown): ThreadCommand | null {
  if (!isObject(v)) return null;
  if (v.k === 'stop') return { k: 'stop' };
  const { thread, records } = v;
  return v.k === 'ack' && isText(thread, 64) && isCount(records)
    ? { k: 'ack', thread, records }
    : null;
}
export const isThreadCommand = (v: unknown): v is ThreadCommand => checkedThreadCommand(v) !== null;

export function isPageMessage(v: unknown): v is PageMessage {
  if (!isObject(v)) return false;
  const { k, n, key, traits, url, dead, closed } = v;
  if (k === 'shared')
    return (
      isCount(n) &&
      isText(key, MAX_TEXT) &&
      isText(traits, MAX_ADDRESS) &&
      isText(url, MAX_ADDRESS) &&
      Array.isArray(dead) &&
      dead.length <= MOST_DEAD &&
      dead.every((one) => isText(one, MAX_ADDRESS)) &&
      (closed === undefined || typeof closed === 'boolean')
    );
  return k === 'offer';
}

export function isFrameMessage(v: unknown): v is FrameMessage {
  return isObject(v) && v.k === 'token' && isText(v.token, 64);
}

/**
 * A well-formed relay message from a content script. The receiver of the port guards the relayed
 * content.
 */
export function isRelayMessage(v: unknown): v is RelayMessage {
  if (!isObject(v) || v.k !== 'relay' || !isText(v.source, 64) || !isCount(v.n) || !isCount(v.seen))
    return false;
  if (v.body === null) return true;
  if (!isObject(v.body)) return false;
  const { k, channel, data, child } = v.body;
  if (!isText(channel, 64) || (child !== undefined && !isText(child, 64))) return false;
  return k === 'open' || (k === 'data' && isObject(data));
}

export function isContentMessage(v: unknown): v is ContentMessage {
  if (!isObject(v)) return false;
  if (v.k === 'shared') return isCount(v.n) && isText(v.url, MAX_ADDRESS);
  return ['recorded', 'connected', 'restore', 'no-panel'].includes(v.k as string);
}
