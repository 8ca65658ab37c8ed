/**
 * Which documents get our scripts: only those of origins that recorded tabs show, including their
 * frames. Coverage follows a recorded tab when it navigates. It is stored in session storage and
 * cached in memory, so that a document that loads waits for nothing.
 */
import {
  injectPageScripts,
  registerPageScripts,
  unregisterPageScripts,
  type Cover,
} from '../platform/page-scripts.ts';
import {
  canSetEverywhere,
  canSetPolicy,
  LAST_RULE,
  setPolicy,
  setPolicyEverywhere,
  unsetPolicies,
} from '../platform/policy-rules.ts';
import { webOrigin } from '../platform/recordable.ts';
import type { DocumentRequest } from '../platform/tab-requests.ts';
import { api } from '../platform/extension-api.ts';
import {
  allOf,
  refusalsOf,
  widened,
  type Policies,
  type Refusal,
} from '../protocol/page-policy.ts';
import { drawName } from '../protocol/relay.ts';
import { captureOptionsOf, type CaptureOptions } from '../protocol/capture.ts';
import type { PagePolicy, RecordingState, Tell } from '../protocol/messages.ts';
import { isOver, nativeTabs, type Sharing } from './sharing.ts';

/** What a recorded tab has shown. */
interface Shown {
  tabId: number;
  /** Number of pages so far. */
  pages: number;
  /** Origin of the page that reported last. Frames without an address belong to it. */
  page: string;
  /**
   * Origins of its documents, each with the number of the page that last requested it. Origins that
   * the last two pages didn't request are dropped.
   */
  origins: [origin: string, page: number][];
}
/** A document that a recorded tab has requested and that hasn't reported yet. */
interface Awaited {
  /** Random. */
  name: string;
  tabId: number;
  frameId: number;
  url: string;
  /** Number of requests: reloading a page while it loads cancels its first request only. */
  asked: number;
  /** Not requested yet: until then, the tab shows the document that is about to reload. */
  reloads: boolean;
}
/** A document whose response has arrived with policies that block something. */
interface Guarded extends Omit<Awaited, 'asked' | 'reloads'> {
  refused: Refusal[];
}
/** The page of a tab whose policies block recording of its workers, and can be widened. */
interface Strict extends Omit<Awaited, 'asked' | 'reloads' | 'name' | 'frameId'> {
  policies: Policies;
  /** They are widened from its next load on. */
  isWidened: boolean;
}
interface Coverage {
  /**
   * Capture options of the current or the last recording. Pages that hold a recorded SharedWorker
   * after the recording get the same script.
   */
  capture: CaptureOptions;
  strict: Strict[];
  sharing: Sharing[];
  shown: Shown[];
  awaited: Awaited[];
  guarded: Guarded[];
}

/**
 * A page can't spread our scripts to more origins than this. Its own origin and the newest ones
 * stay.
 */
const MAX_ORIGINS = 40;
const MAX_AWAITED = 50;
const KEY = 'coverage';

let value: Coverage | null = null;
/** When the scripts of a document on its way are registered. */
const registering = new WeakMap<Awaited, Promise<void>>();
let recordings: readonly RecordingState[] = [];

/** Remember the running recordings. Nothing is registered yet. */
export const coverLater = (running: readonly RecordingState[]): void => void (recordings = running);

const sameText = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
/** Whether a recording includes this tab. */
export const covers = (tabId: number): boolean =>
  recordings.some(({ tabs }) => tabs.includes(tabId));
/**
 * Whether our script runs in this tab's documents at this address: the tab is recorded, or shares
 * SharedWorkers with a recorded tab.
 */
const reaches = ({ sharing }: Coverage, tabId: number, url: string): boolean =>
  covers(tabId) || sharing.some(({ origin }) => origin === webOrigin(url));
const plain = (url: string): string => url.replace(/#.*/s, '');

/** The stored state. Functions in this file change it, then call `apply`. */
export async function load(): Promise<Coverage> {
  if (value) return value;
  const stored = (await api.storage.session.get(KEY)) as { [KEY]?: Coverage };
  return (value ??= stored[KEY] ?? {
    capture: captureOptionsOf({}),
    strict: [],
    sharing: [],
    shown: [],
    awaited: [],
    guarded: [],
  });
}

/** Register what these recordings need, and nothing else. */
export async function cover(running: readonly RecordingState[]): Promise<void> {
  recordings = running;
  await load();
  await apply(false); // the caller that ends a recording notifies its pages
}

function coverOf({ sharing, shown, awaited, guarded }: Coverage): Cover {
  const whole = recordings.flatMap(({ scope, origin }) =>
    scope === 'origin' && origin ? [origin] : [],
  );
  const origins = shown.flatMap((tab) => tab.origins.map(([origin]) => origin));
  const shared = sharing.map(({ origin }) => origin);
  const held = sharing.filter((one) => !isOver(one)).map(({ origin }) => origin);
  return { origins: [...whole, ...origins, ...held], announced: awaited, whole, guarded, shared };
}

/** Whether a recorded tab shows this origin, or did. */
export const showsOrigin = (of: string): boolean =>
  recordings.some(({ origin }) => origin === of) ||
  (value?.shown ?? []).some(({ origins }) => origins.some(([origin]) => origin === of));

/**
 * While pages hold, or may hold, SharedWorkers that run with our script: whether we must see the
 * policies of new documents, or only which tabs show the origin. null = no such worker.
 */
export async function sharesWorkers(): Promise<'policies' | 'pages' | null> {
  const { sharing } = await load();
  if (sharing.length === 0) return null;
  return sharing.some((one) => one.widened) ? 'policies' : 'pages';
}

let onApplied: () => void = () => {};
/** Called after every change. */
export const watchCoverage = (listener: () => void): void => void (onApplied = listener);

let onDropped: (origin: string) => void = () => {};
/** Called with an origin whose SharedWorkers don't run with our script any more. */
export const watchSharing = (listener: (origin: string) => void): void =>
  void (onDropped = listener);

/** Store the state for the next background script. */
export const keep = async (): Promise<void> => api.storage.session.set({ [KEY]: await load() });

/**
 * Register what `value` describes, then store it. @param tells also report origins that are no
 * longer shared
 */
export async function apply(tells = true): Promise<void> {
  const now = value!;
  now.shown = now.shown.filter(({ tabId }) => covers(tabId));
  now.awaited = now.awaited.filter(({ tabId }) => covers(tabId));
  now.guarded = now.guarded.filter(({ tabId, url }) => reaches(now, tabId, url));
  now.strict = now.strict.filter(({ tabId }) => covers(tabId));
  const dropped = now.sharing.filter((one) => isOver(one) && !showsOrigin(one.origin));
  now.sharing = now.sharing.filter((one) => !dropped.includes(one));
  now.capture = recordings[0]?.capture ?? now.capture; // all recordings capture the same
  const registered =
    recordings.length || now.sharing.length
      ? registerPageScripts(now.capture, coverOf(now))
      : unregisterPageScripts();
  const wide = [
    ...now.strict.flatMap(({ isWidened, tabId }) => (isWidened ? [tabId] : [])),
    ...now.sharing.flatMap(({ widened: everywhere }) => (everywhere ? [everywhere.rule] : [])),
  ];
  await Promise.all([registered, unsetPolicies(wide), keep()]);
  onApplied();
  if (tells) for (const { origin } of dropped) onDropped(origin);
}

/** @param isPage the document is a new page of the tab */
function note({ shown }: Coverage, tabId: number, origin: string, isPage = false): void {
  let tab = shown.find((one) => one.tabId === tabId);
  if (!tab) shown.push((tab = { tabId, pages: 0, page: '', origins: [] }));
  if (isPage) {
    tab.pages++;
    tab.page = origin;
  }
  const { page, pages } = tab;
  const others = tab.origins.filter(([o, asked]) => o !== origin && asked >= pages - 1);
  tab.origins = [...others, [origin, pages] as [string, number]].filter(
    ([o], i, { length }) => o === page || i >= length - MAX_ORIGINS,
  );
}

const awaitedIn = (
  { awaited }: Coverage,
  { tabId, frameId, url }: DocumentRequest,
): Awaited | undefined =>
  awaited.find((one) => one.tabId === tabId && one.frameId === frameId && one.url === plain(url));

/**
 * A recorded tab requests a document, or will: register our scripts for it and its frames.
 * @param reloads the tab shows it, and is about to reload
 * @returns when they are registered
 */
export async function expectDocument(
  { tabId, frameId, url }: DocumentRequest,
  reloads = false,
): Promise<void> {
  const origin = webOrigin(url);
  if (!origin || !covers(tabId)) return;
  const now = await load();
  const same = awaitedIn(now, { tabId, frameId, url });
  if (same) {
    same.asked++;
    same.reloads = false;
    return registering.get(same); // undefined: an earlier background did
  }
  note(now, tabId, origin);
  now.awaited = now.awaited.filter((one) => one.tabId !== tabId || one.frameId !== frameId);
  const made = { name: drawName(), tabId, frameId, url: plain(url), asked: 1, reloads };
  now.awaited = [...now.awaited, made].slice(-MAX_AWAITED);
  const registered = apply();
  registering.set(made, registered);
  await registered;
}

/** The request was canceled. Another tab that shows the address must not match it. */
export async function documentGone(request: DocumentRequest): Promise<void> {
  if (!covers(request.tabId)) return;
  const now = await load();
  const gone = awaitedIn(now, request);
  if (!gone || --gone.asked > 0) return;
  now.awaited = now.awaited.filter((one) => one !== gone);
  await apply();
}

/**
 * The response of a recorded tab's document has arrived. The document follows within milliseconds,
 * so its policies are registered at once.
 */
export async function notePolicies(
  { tabId, frameId, url }: DocumentRequest,
  policies: Policies,
): Promise<void> {
  const now = await load();
  if (!reaches(now, tabId, url)) return;
  const origin = webOrigin(url);
  const before = now.strict.find((one) => one.tabId === tabId && one.url === plain(url));
  const wider = frameId === 0 ? widened(policies, origin) : null;
  const own = refusalsOf(allOf(policies), origin);
  const isWideForAll = isWidened(now, origin, policies);
  // a policy set in place of another one would be stale
  const isWideHere =
    before?.isWidened === true && wider !== null && sameText(before.policies, policies);
  if (frameId === 0) {
    now.strict = now.strict.filter((one) => one.tabId !== tabId);
    if (wider && covers(tabId) && canSetPolicy(plain(url)))
      now.strict.push({ tabId, url: plain(url), policies, isWidened: isWideHere });
  }
  // this response hasn't been widened yet
  const isWide = isWideForAll || isWideHere;
  const refused = isWide ? refusalsOf(allOf(widened(policies, origin)!), origin) : own;
  if (isWide && own.includes('types')) refused.push('lifted');
  if (isWide && !isWideForAll) refused.push('shared');
  const others = now.guarded.filter((one) => one.tabId !== tabId || one.frameId !== frameId);
  if (!refused.length && others.length === now.guarded.length && !wider && !before) return;
  const guarded = refused.length
    ? [{ name: drawName(), tabId, frameId, url: plain(url), refused }]
    : [];
  now.guarded = [...others, ...guarded].slice(-MAX_AWAITED);
  await apply();
}

/** What a document's headers block, if we saw them. */
export async function refusedTo({
  tab,
  frameId = 0,
  url = '',
}: chrome.runtime.MessageSender): Promise<Refusal[]> {
  const { guarded } = await load();
  return (
    guarded.find(
      (one) => one.tabId === tab?.id && one.frameId === frameId && one.url === plain(url),
    )?.refused ?? []
  );
}

/**
 * A document with our script reports, so its announcement isn't needed any more. A document of an
 * unrecorded tab may have had its policies announced.
 */
export async function documentSpeaks({
  tab,
  frameId = 0,
  url = '',
  origin = url,
}: chrome.runtime.MessageSender): Promise<void> {
  if (!tab?.id) return;
  const now = await load();
  const isRecorded = covers(tab.id);
  if (isRecorded && webOrigin(origin)) note(now, tab.id, webOrigin(origin), frameId === 0);
  const isOther = (one: DocumentRequest): boolean =>
    one.tabId !== tab.id || one.frameId !== frameId || one.url !== plain(url);
  if (!isRecorded && now.guarded.every(isOther)) return;
  now.awaited = now.awaited.filter(isOther);
  now.guarded = now.guarded.filter(isOther);
  await apply();
}

/**
 * A document has loaded (frame 0 = the whole page). Inject our scripts into documents that loaded
 * before the scripts were registered. Those documents report that the hook was late. A document
 * that doesn't answer may only be on its way.
 * @returns whether our script had left a document
 */
export async function reach(tabId: number, frameId: number, url: string): Promise<boolean> {
  const recording = recordings.find(({ tabs }) => tabs.includes(tabId));
  if (!recording) return false;
  let hadLeft = false;
  const now = await load();
  const isLoaded = (one: Awaited): boolean =>
    one.tabId === tabId && (one.url === plain(url) || (frameId === 0 && one.frameId !== 0));
  const silent = now.awaited.filter(isLoaded);
  if (silent.some(({ reloads }) => reloads)) return false;
  for (const frame of new Set([frameId, ...silent.map((one) => one.frameId)])) {
    const listens = (await api.tabs
      .sendMessage(tabId, { k: 'here?' } satisfies Tell, { frameId: frame })
      .catch(() => null)) as boolean | null;
    if (listens) continue;
    await injectPageScripts(tabId, recording.capture, frame);
    hadLeft ||= listens === false;
  }
  if (frameId !== 0) return hadLeft; // its document may still be loading
  now.awaited = now.awaited.filter((one) => !silent.includes(one));
  await apply();
  return hadLeft;
}

/** Whether all tabs get wider policies for documents of this origin with these policies. */
const isWidened = ({ sharing }: Coverage, of: string, policies: Policies): boolean =>
  sharing.some(
    ({ origin, widened: everywhere }) => origin === of && sameText(everywhere?.policies, policies),
  );

/**
 * Which policies of the tab's page block recording of its workers: see PagePolicy. null = none, or
 * not known
 */
export async function policyOf(tabId: number): Promise<PagePolicy> {
  const now = await load();
  const strict = now.strict.find((one) => one.tabId === tabId);
  if (!strict) return null;
  const origin = webOrigin(strict.url);
  if (isWidened(now, origin, strict.policies)) return 'open-in-all-tabs';
  const sharing = now.sharing.find((one) => one.origin === origin);
  const hasShared = sharing !== undefined && nativeTabs(sharing).includes(tabId);
  if (hasShared && !sharing.widened && canSetEverywhere(strict.policies)) return 'closed-to-shared';
  return strict.isWidened ? 'open' : 'closed';
}

/**
 * The user lets this tab's page start recorded workers during this recording. The page reloads with
 * policies that allow them.
 * @param sharesAgain widens the policies of its origin's documents in all tabs
 */
export async function widenPolicy(
  tabId: number,
  sharesAgain: (origin: string) => Promise<Sharing | undefined>,
): Promise<void> {
  const now = await load();
  const strict = now.strict.find((one) => one.tabId === tabId);
  const { url = '', policies } = strict ?? {};
  const origin = webOrigin(url);
  const wider = policies && widened(policies, origin);
  if (!strict || !wider) return;
  const sharing =
    (await policyOf(tabId)) === 'closed-to-shared' ? await sharesAgain(origin) : undefined;
  const isFree = (rule: number): boolean => now.sharing.every((one) => one.widened?.rule !== rule);
  let rule = LAST_RULE;
  while (!isFree(rule)) rule--;
  // set before the rule exists, so that a recording that ends meanwhile removes it
  strict.isWidened = !sharing;
  if (sharing) sharing.widened = { rule, policies };
  // these were registered for the old policies
  now.guarded = now.guarded.filter((one) => webOrigin(one.url) !== origin);
  try {
    if (sharing) await setPolicyEverywhere(rule, origin, policies, wider);
    else await setPolicy(tabId, url, policies, wider);
  } catch (e) {
    strict.isWidened = false;
    if (sharing) sharing.widened = null;
    throw e;
  }
  await apply(); // removes the rule if the recording has ended meanwhile
  if (covers(tabId)) await api.tabs.reload(tabId);
}
