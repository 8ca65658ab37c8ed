/**
 * Which documents get our scripts: those of the origins that recorded tabs show, with their frames, and no others. It follows a
 * recorded tab to where it goes. It lies in the session's storage, and in memory beside it: a document on its way waits for nothing.
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
  /** Pages so far. */
  pages: number;
  /** Origin of the page that spoke last; frames without an address belong to it. */
  page: string;
  /** Origins of its documents, each with the page that asked for it last. Those of the page before the last are forgotten. */
  origins: [origin: string, page: number][];
}
/** A document that a recorded tab has asked for, and that has not spoken yet. */
interface Awaited {
  /** Drawn. */
  name: string;
  tabId: number;
  frameId: number;
  url: string;
  /** How often: a page that is loaded again while it loads gives up its first request only. */
  asked: number;
}
/** One whose response has come, with policies that refuse something. */
interface Guarded extends Omit<Awaited, 'asked'> {
  refused: Refusal[];
}
/** The page of a tab whose policies keep workers from being recorded, and could be widened for it. */
interface Strict extends Omit<Awaited, 'asked' | 'name' | 'frameId'> {
  policies: Policies;
  /** They are, from its next load on. */
  isWidened: boolean;
}
interface Coverage {
  /** What is captured, and was last: pages that hold a recorded SharedWorker after the recording have the same script. */
  capture: CaptureOptions;
  strict: Strict[];
  sharing: Sharing[];
  shown: Shown[];
  awaited: Awaited[];
  guarded: Guarded[];
}

/** No page spreads our scripts further than this. Its own origin and the newest stay. */
const MAX_ORIGINS = 40;
const MAX_AWAITED = 50;
const KEY = 'coverage';

let value: Coverage | null = null;
let recordings: readonly RecordingState[] = [];

/** These recordings run: known from here on, nothing is registered yet. */
export const coverLater = (running: readonly RecordingState[]): void => void (recordings = running);

const sameText = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
/** A recording runs that has this tab. */
export const covers = (tabId: number): boolean =>
  recordings.some(({ tabs }) => tabs.includes(tabId));
/** Our script is in the documents of this tab with this address: it is recorded, or shares SharedWorkers with one that is. */
const reaches = ({ sharing }: Coverage, tabId: number, url: string): boolean =>
  covers(tabId) || sharing.some(({ origin }) => origin === webOrigin(url));
const plain = (url: string): string => url.replace(/#.*/s, '');

/** What is known; the rest of this room changes it and then says `apply`. */
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

/** From now on what these recordings need is registered, and nothing else. */
export async function cover(running: readonly RecordingState[]): Promise<void> {
  recordings = running;
  await load();
  await apply(false); // who ends a recording tells its pages
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

/** A recorded tab shows this origin, or did. */
export const showsOrigin = (of: string): boolean =>
  recordings.some(({ origin }) => origin === of) ||
  (value?.shown ?? []).some(({ origins }) => origins.some(([origin]) => origin === of));

/** Pages hold, or may hold, SharedWorkers that run with our script: the policies of documents that come are of interest, or only which tabs show them? */
export async function sharesWorkers(): Promise<'policies' | 'pages' | null> {
  const { sharing } = await load();
  if (sharing.length === 0) return null;
  return sharing.some((one) => one.widened) ? 'policies' : 'pages';
}

let onApplied: () => void = () => {};
/** Told after every change. */
export const watchCoverage = (listener: () => void): void => void (onApplied = listener);

let onDropped: (origin: string) => void = () => {};
/** Told of an origin whose SharedWorkers run with our script no longer. */
export const watchSharing = (listener: (origin: string) => void): void =>
  void (onDropped = listener);

/** Store what is known, so that the next background script knows it. */
export const keep = async (): Promise<void> => api.storage.session.set({ [KEY]: await load() });

/** Register what `value` says, at once, then store it. @param tells of origins that are shared no longer */
export async function apply(tells = true): Promise<void> {
  const now = value!;
  now.shown = now.shown.filter(({ tabId }) => covers(tabId));
  now.awaited = now.awaited.filter(({ tabId }) => covers(tabId));
  now.guarded = now.guarded.filter(({ tabId, url }) => reaches(now, tabId, url));
  now.strict = now.strict.filter(({ tabId }) => covers(tabId));
  const dropped = now.sharing.filter((one) => isOver(one) && !showsOrigin(one.origin));
  now.sharing = now.sharing.filter((one) => !dropped.includes(one));
  now.capture = recordings[0]?.capture ?? now.capture; // all capture the same
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

/** @param isPage a new page of the tab */
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

/** A recorded tab has asked for a document, or will: it and its frames get our scripts. @returns when that is so */
export async function expectDocument({ tabId, frameId, url }: DocumentRequest): Promise<void> {
  const origin = webOrigin(url);
  if (!origin || !covers(tabId)) return;
  const now = await load();
  const same = awaitedIn(now, { tabId, frameId, url });
  if (same) return void same.asked++;
  note(now, tabId, origin);
  now.awaited = now.awaited.filter((one) => one.tabId !== tabId || one.frameId !== frameId);
  now.awaited.push({ name: drawName(), tabId, frameId, url: plain(url), asked: 1 });
  now.awaited = now.awaited.slice(-MAX_AWAITED);
  await apply();
}

/** One of these does not come: another tab that shows that address is not to take it for its own. */
export async function documentGone(request: DocumentRequest): Promise<void> {
  if (!covers(request.tabId)) return;
  const now = await load();
  const gone = awaitedIn(now, request);
  if (!gone || --gone.asked > 0) return;
  now.awaited = now.awaited.filter((one) => one !== gone);
  await apply();
}

/** The response of a document of a recorded tab has come. The document follows within milliseconds: its policies are registered at once. */
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
  // what is set in the place of another policy would be stale
  const isWideHere =
    before?.isWidened === true && wider !== null && sameText(before.policies, policies);
  if (frameId === 0) {
    now.strict = now.strict.filter((one) => one.tabId !== tabId);
    if (wider && covers(tabId) && canSetPolicy(plain(url)))
      now.strict.push({ tabId, url: plain(url), policies, isWidened: isWideHere });
  }
  // what comes has not been widened yet
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

/** What the headers of a document refuse, where they were seen. */
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

/** A document with our script speaks: it needs no announcement any more. One of another tab may have had its policies announced. */
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
 * A document is there, with frame 0 the whole page: what came faster than our scripts gets them now, and says that it was late.
 * @returns whether any of it was
 */
export async function reach(tabId: number, frameId: number, url: string): Promise<boolean> {
  const recording = recordings.find(({ tabs }) => tabs.includes(tabId));
  if (!recording) return false;
  let wasLate = false;
  const now = await load();
  const isLoaded = (one: Awaited): boolean =>
    one.tabId === tabId && (one.url === plain(url) || (frameId === 0 && one.frameId !== 0));
  const silent = now.awaited.filter(isLoaded);
  for (const frame of new Set([frameId, ...silent.map((one) => one.frameId)])) {
    const there = await api.tabs
      .sendMessage(tabId, { k: 'here?' } satisfies Tell, { frameId: frame })
      .then(
        (listens) => listens === true,
        () => false, // no script of ours is there
      );
    if (there) continue;
    await injectPageScripts(tabId, recording.capture, frame);
    wasLate = true;
  }
  if (frameId !== 0) return wasLate; // its document may still be on its way
  now.awaited = now.awaited.filter((one) => !silent.includes(one));
  await apply();
  return wasLate;
}

/** Documents of this origin with these policies have wider ones, in all tabs. */
const isWidened = ({ sharing }: Coverage, of: string, policies: Policies): boolean =>
  sharing.some(
    ({ origin, widened: everywhere }) => origin === of && sameText(everywhere?.policies, policies),
  );

/** What of the tab's page keeps its workers from being recorded: see PagePolicy. null = nothing, or not known */
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
 * The user lets this tab's page start recorded workers, for this recording: it loads again with policies that allow them.
 * @param sharesAgain documents of its origin have them from now on, in all tabs
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
  // before the rule is there: what ends the recording meanwhile takes it back
  strict.isWidened = !sharing;
  if (sharing) sharing.widened = { rule, policies };
  now.guarded = now.guarded.filter((one) => webOrigin(one.url) !== origin); // they are of policies from before
  try {
    if (sharing) await setPolicyEverywhere(rule, origin, policies, wider);
    else await setPolicy(tabId, url, policies, wider);
  } catch (e) {
    strict.isWidened = false;
    if (sharing) sharing.widened = null;
    throw e;
  }
  await apply(); // takes it back where the recording has ended meanwhile
  if (covers(tabId)) await api.tabs.reload(tabId);
}
