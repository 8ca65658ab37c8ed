/**
 * Which tabs are recorded, and by which panel. All of it is in session storage, because the browser
 * may stop the service worker between any two events. A recording ends when its panel (DevTools) or
 * its tab is closed.
 */
import { injectPageScripts } from '../platform/page-scripts.ts';
import { webOrigin, whyNotRecordable } from '../platform/recordable.ts';
import { tabsOf } from '../platform/tabs-of.ts';
import { showRecording, tabExists } from '../platform/recording-badge.ts';
import { hasSiteAccess, hasSomeAccess } from '../platform/site-access.ts';
import { SessionState } from '../platform/session-state.ts';
import { api } from '../platform/extension-api.ts';
import {
  cover,
  coverLater,
  documentSpeaks,
  expectDocument,
  refusedTo,
  watchSharing,
} from './coverage.ts';
import {
  joins,
  lookForNewTabs,
  pageIsNew,
  pageWasLate,
  pageShown,
  share,
  sharedOrigins,
} from './shared-workers.ts';
import { followWorkers } from './workers.ts';
import type {
  Answer,
  DocumentState,
  PanelMessage,
  RecordingState,
  Redeemed,
  Tell,
} from '../protocol/messages.ts';
import { captureOptionsOf, sameCapture, type CaptureOptions } from '../protocol/capture.ts';
import { drawName } from '../protocol/relay.ts';

interface Recording extends RecordingState {
  transport: Answer['transport'];
  /** The page of the panel that receives it, as in panelPortName. */
  owner: string;
}
interface State {
  /** by the panel's tab */
  recordings: Recording[];
  /** Tokens that were issued and not redeemed yet, with their tabs. Oldest first. */
  tokens: [string, number][];
}

const NO_ACCESS = (origin: string): string =>
  origin
    ? `vfscope has no access to ${origin}. Press Record again and allow it.`
    : "vfscope has no access to any site. Open your app's page, then press Record and allow access to it.";
const TAB_CLOSED =
  'The tab of this panel is closed. Open your app again, then open vfscope from its tab.';
/** Limits the storage that frames take up when their pages close before redeeming. */
const MAX_TOKENS = 200;

const state = new SessionState<State>(
  'state',
  () => ({ recordings: [], tokens: [] }),
  ({ recordings }) => onValue(recordings),
);

/** Called after every change; `recording` null = this panel has none. */
type OnChange = (panel: number, recording: RecordingState | null) => void;
let onChange: OnChange = () => {};
let onRunning: (any: boolean) => void = () => {};
/**
 * Called after every change, and after each check of the state with whether any recording runs. The
 * background is the only listener.
 */
export const watchRecordings = (
  listener: OnChange,
  running: (any: boolean) => void = () => {},
): void => void ([onChange, onRunning] = [listener, running]);
function onValue(recordings: Recording[]): void {
  followWorkers(recordings);
  coverLater(recordings);
  onRunning(recordings.length > 0);
}

/** What the running recordings cover of a tab. */
const covering = (recordings: Recording[], tabId: number): Recording | undefined =>
  recordings.find(({ tabs }) => tabs.includes(tabId));

/** The recording of this panel, or null. */
export async function recordingOf(panel: number): Promise<Recording | null> {
  return (await state.read()).recordings.find(({ tabId }) => tabId === panel) ?? null;
}

/** The panel that records this tab, or null. */
export async function panelOf(tabId: number): Promise<number | null> {
  return covering((await state.read()).recordings, tabId)?.tabId ?? null;
}

/** The recording that includes this tab: its own, or one of its whole origin. null = none. */
export async function recordingCovering(tabId: number): Promise<RecordingState | null> {
  return covering((await state.read()).recordings, tabId) ?? null;
}

/** Panels that own a recording. */
export async function recordingPanels(): Promise<number[]> {
  return (await state.read()).recordings.map(({ tabId }) => tabId);
}

/**
 * Start a recording for a panel. If its recording already runs, that one continues.
 * @param owner the panel's page, as in panelPortName
 * @throws Error for the user, if the page can't be recorded
 */
export async function start(
  panel: number,
  owner: string,
  options: Extract<PanelMessage, { k: 'start' }>,
): Promise<void> {
  const { scope, reload, others, transport } = options;
  const capture = captureOptionsOf(options.capture);
  const tab = await api.tabs.get(panel).catch(() => {
    throw new Error(TAB_CLOSED);
  });
  // we can't see the address of a browser page or an empty one: the recording starts with the next
  // web page
  const cause = tab.url ? whyNotRecordable(tab.url) : null;
  if (cause) throw new Error(cause);
  const origin = webOrigin(tab.url);
  // the browser hides addresses of pages that we can't access
  const asked = origin || webOrigin(options.origin);
  if (!(await (asked ? hasSiteAccess(asked) : hasSomeAccess()))) throw new Error(NO_ACCESS(asked));
  const shown = origin ? await tabsOf(origin) : [];
  const reloaded = !reload ? [] : others && scope === 'origin' ? shown : [panel];
  const open = scope === 'origin' && origin ? shown : [panel];
  const recording = await state.change(async ({ recordings }) => {
    const running = recordings.find(({ tabId }) => tabId === panel);
    if (running) {
      running.owner = owner; // pages hand their ports to the panel whose Record was pressed last
      return null;
    }
    const other = covering(recordings, panel);
    if (other)
      throw new Error(
        'Another vfscope panel is recording all tabs of this origin, including this one. Stop that recording first.',
      );
    // tabs of one origin share its scripts
    if (recordings.some((r) => !sameCapture(r.capture, capture)))
      throw new Error(
        'Another recording with other settings is running. Stop it first, or choose the same settings.',
      );
    const free = [panel, ...open].filter(
      (id, i, all) => all.indexOf(id) === i && !covering(recordings, id),
    );
    const made: Recording = {
      tabId: panel,
      scope,
      origin,
      since: Date.now(),
      tabs: free,
      transport,
      capture,
      owner,
    };
    const first = { tabId: panel, frameId: 0, url: tab.url ?? '' };
    try {
      if (origin) await share(origin, shown, reloaded);
      await cover([...recordings, made]);
      await expectDocument(first, reloaded.includes(panel));
    } catch (e) {
      coverLater(recordings);
      throw e;
    }
    recordings.push(made);
    return made;
  });
  if (!recording) return onChange(panel, await recordingOf(panel));
  try {
    await showRecording(panel, true);
    if (origin) await lookForNewTabs(origin, shown);
    if (!reload && origin) await injectPageScripts(panel, capture);
    const stay = recording.tabs.filter((tabId) => tabId !== panel && !reloaded.includes(tabId));
    for (const tabId of stay) await joinOpenTab(tabId, capture);
    if (origin) await Promise.all(reloaded.map((tabId) => api.tabs.reload(tabId)));
  } catch (e) {
    await stop(panel).catch((also: unknown) =>
      console.warn("vfscope: can't clean up after a recording that didn't start:", also),
    );
    throw e;
  }
  onChange(panel, recording);
}

/** Another open tab of the origin. It isn't reloaded, because it may hold unsaved work. */
async function joinOpenTab(tabId: number, capture: CaptureOptions): Promise<void> {
  await showRecording(tabId, true);
  try {
    await injectPageScripts(tabId, capture);
  } catch (e) {
    console.warn(`vfscope: tab ${tabId} is recorded from its next load on:`, e); // discarded, or an error page
  }
}

/**
 * End a panel's recording, if it has one. Nothing new is hooked, and every page restores what was
 * patched.
 * @throws the first failure, after all its tabs and the panel were notified
 */
export async function stop(panel: number): Promise<void> {
  let shared: string[] = [];
  const ended = await state.change(async (value) => {
    const recording = value.recordings.find(({ tabId }) => tabId === panel);
    value.recordings = value.recordings.filter((r) => r !== recording);
    if (value.recordings.length === 0) value.tokens = [];
    shared = await sharedOrigins();
    await cover(value.recordings);
    return recording;
  });
  const still = await sharedOrigins();
  // SharedWorkers of other tabs should be those of the recorded ones
  const others = (
    await Promise.all(shared.filter((origin) => !still.includes(origin)).map(tabsOf))
  ).flat();
  const tabs = ended?.tabs ?? [];
  const released = await Promise.allSettled([
    ...tabs.map((tab) => release(tab, still)),
    ...others.filter((tab) => !tabs.includes(tab)).map((tab) => restore(tab, still)),
  ]);
  onChange(panel, null);
  const failed = released.find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

/**
 * A tab isn't recorded any more: its pages restore the platform's functions, and its icon is reset.
 */
async function release(tabId: number, shared: readonly string[] = []): Promise<void> {
  await showRecording(tabId, false);
  await restore(tabId, shared);
}
/** @param shared origins whose SharedWorkers still run with our script */
async function restore(tabId: number, shared: readonly string[]): Promise<void> {
  try {
    await api.tabs.sendMessage(tabId, { k: 'restore', joins: [...shared] } satisfies Tell);
  } catch (e) {
    if (!/Receiving end does not exist|message port closed|No tab with id/i.test(String(e)))
      throw e; // none of our pages in that tab, or it is closed
  }
}

watchSharing((origin) => {
  const restoreAll = async (): Promise<void> => {
    const still = await sharedOrigins();
    if (still.includes(origin)) return;
    for (const tab of await tabsOf(origin))
      if ((await panelOf(tab)) === null) await restore(tab, still);
  };
  restoreAll().catch((e: unknown) =>
    console.warn(`vfscope: pages of ${origin} still have vfscope's SharedWorker:`, e),
  );
});

/** A tab was closed, so the recording of its panel ends. */
export async function tabClosed(closed: number): Promise<void> {
  await pageShown(closed, true);
  if (await recordingOf(closed)) return stop(closed);
  const left = await state.change(({ recordings }) => {
    const recording = covering(recordings, closed);
    if (recording) recording.tabs = recording.tabs.filter((id) => id !== closed);
    return recording;
  });
  if (left) onChange(left.tabId, left);
}

/**
 * A page asks whether its tab is recorded. A tab that shows a recorded origin joins; a tab that has
 * left it leaves.
 */
export async function answer(
  sender: chrome.runtime.MessageSender,
  document: DocumentState,
  reloads = false,
): Promise<Answer> {
  const tabId = sender.tab?.id ?? -1;
  const origin = sender.frameId === 0 ? webOrigin(sender.url) : null; // frames follow their page
  const said =
    document === 'late'
      ? pageWasLate(tabId, webOrigin(sender.origin ?? sender.url))
      : document === 'new' && origin !== null
        ? pageIsNew(tabId, origin, reloads)
        : null;
  const found = await state.change(({ recordings, tokens }) => {
    let changed = false;
    let recording = covering(recordings, tabId);
    if (recording && origin) {
      if (recording.origin === '') {
        recording.origin = origin; // started on an empty page
        changed = true;
      } else if (
        recording.scope === 'origin' &&
        recording.origin !== origin &&
        recording.tabId !== tabId
      ) {
        recording.tabs = recording.tabs.filter((id) => id !== tabId);
        return { recording: undefined, left: recording, token: '', changed: true };
      }
    }
    if (!recording && origin) {
      recording = recordings.find((r) => r.scope === 'origin' && r.origin === origin);
      if (recording) changed = true;
      recording?.tabs.push(tabId);
    }
    if (!recording) return { recording, left: recording, token: '', changed };
    const token = drawName();
    tokens.push([token, tabId]);
    if (tokens.length > MAX_TOKENS) tokens.shift();
    return { recording, left: undefined, token, changed };
  });
  const { recording, left, token, changed } = found;
  const told = recording ?? left;
  if (changed && told) onChange(told.tabId, told);
  const refused = await refusedTo(sender);
  documentSpeaks(sender).catch((e: unknown) =>
    console.warn('vfscope: the scripts of a recording could not be registered:', e),
  );
  if (recording && sender.frameId === 0 && (await tabExists(tabId)))
    await showRecording(tabId, true);
  const [since, transport] = [recording?.since ?? 0, recording?.transport ?? 'port'];
  await said;
  const shares = await joins(webOrigin(sender.origin ?? sender.url));
  return {
    recorded: recording !== undefined,
    since,
    tabId,
    token,
    transport,
    refused,
    joins: shares,
  };
}

/** Whether this token still waits for its frame. */
export const isOpen = async (token: string): Promise<boolean> =>
  (await state.read()).tokens.some(([text]) => text === token);

/**
 * A tab's handover frame presents its token, which is valid once and only in the tab that it was
 * issued to.
 */
export function redeem(token: string, sender: chrome.runtime.MessageSender): Promise<Redeemed> {
  return state.change((value) => {
    const known = value.tokens.some(([text, tabId]) => text === token && tabId === sender.tab?.id);
    value.tokens = value.tokens.filter(([text]) => text !== token);
    const recording = known ? covering(value.recordings, sender.tab!.id!) : undefined;
    return recording ? { panel: recording.tabId } : null;
  });
}

/** When the service worker starts: remove scripts that no recording needs. */
export async function tidy(): Promise<void> {
  await state.change(({ recordings }) => cover(recordings));
}
