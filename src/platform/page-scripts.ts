/**
 * Our two scripts in web pages: registered for the origins of a recording only, while it runs, and injected into pages that are open.
 *
 * Another tab may show such an origin, too. So the hook waits there until it knows that its tab is recorded: at once where the document
 * was announced, by a registration of its own that ends as soon as the document is there; else by the content script's answer.
 */
import {
  captureScripts,
  NOW_SCRIPT,
  SHARED_SCRIPT,
  WAIT_SCRIPT,
  type CaptureOptions,
} from '../protocol/capture.ts';
import { policyScript, type Refusal } from '../protocol/page-policy.ts';
import { api } from './extension-api.ts';
import { canFollowRequests } from './tab-requests.ts';

/** Where documents get our scripts. */
export interface Cover {
  /** Origins of recorded pages and their frames. */
  origins: string[];
  /** On their way into a recorded tab, each by a name that none had before: the hook there records from the first line. */
  announced: { name: string; url: string }[];
  /** Origins whose every tab is recorded. */
  whole: string[];
  /** On their way, with headers that refuse this: the content script there knows it before the first line. */
  guarded: { name: string; url: string; refused: Refusal[] }[];
  /** Origins whose SharedWorkers run with our script. */
  shared: string[];
}
type Script = chrome.scripting.RegisteredContentScript;

/** Addresses longer than this are announced by their beginning. */
const LONGEST_PATTERN = 2000;
/** The hook, and before it what tells it its options. */
const hookFiles = (capture: CaptureOptions): string[] => [...captureScripts(capture), 'hooks.js'];

/** Firefox, where an absent key of the manifest reads null, and Safari know no ports in patterns: there a host's other ports are meant, too. */
const hasPorts = (): boolean =>
  Boolean(
    (api.runtime.getManifest().background as { service_worker?: string | null }).service_worker,
  );

/** Match pattern of an origin. */
function originPattern(origin: string): string {
  const { protocol, hostname, host } = new URL(origin);
  return `${protocol}//${hasPorts() ? host : hostname}/*`;
}

function documentPattern(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname + (search || (url.endsWith('?') ? '?' : '')); // patterns tell `/?` from `/`, `search` doesn't
  return (
    originPattern(origin).slice(0, -2) +
    (path.length > LONGEST_PATTERN ? `${path.slice(0, LONGEST_PATTERN)}*` : path)
  );
}

/** Where no request is followed in time, every page gets our scripts and asks. */
const WEB = ['http://*/*', 'https://*/*'];

/** An origin has registrations of its own: one that is added is there sooner than one that is changed. */
function scriptsFor(
  capture: CaptureOptions,
  { origins, announced, whole, guarded, shared }: Cover,
): Script[] {
  const common = { runAt: 'document_start', persistAcrossSessions: false } as const;
  const patterns = (of: string[]): string[] => [...new Set(of.map(originPattern))].sort();
  const early = (name: string, matches: string[], allFrames: boolean): Script[] =>
    matches.length
      ? [
          {
            ...common,
            id: `vfscope-now ${name}`,
            js: [NOW_SCRIPT],
            world: 'MAIN',
            matches,
            allFrames,
          },
        ]
      : [];
  // without requests to follow, no document is announced: there the hook does not wait
  const hook = [...(canFollowRequests() ? [WAIT_SCRIPT] : []), ...hookFiles(capture)];
  const sharing = patterns(shared);
  const everywhere = !canFollowRequests();
  return [
    ...(everywhere ? WEB : patterns(origins)).flatMap((pattern): Script[] => {
      const base = { ...common, matches: [pattern], allFrames: true, matchOriginAsFallback: true };
      return [
        { ...base, id: `vfscope-content ${pattern}`, js: ['content.js'], world: 'ISOLATED' },
        {
          ...base,
          id: `vfscope-hooks ${pattern}`,
          // pages of other origins ask, and hear that theirs are none of ours
          js: [
            ...(sharing.includes(pattern) || (everywhere && sharing.length) ? [SHARED_SCRIPT] : []),
            ...hook,
          ],
          world: 'MAIN',
        },
      ];
    }),
    ...early('whole', patterns(whole), false),
    ...guarded.map(({ name, url, refused }): Script => {
      const js = refused.map(policyScript);
      return {
        ...common,
        id: `vfscope-policy ${name}`,
        js,
        world: 'ISOLATED',
        matches: [documentPattern(url)],
        allFrames: true,
      };
    }),
    ...announced.flatMap(({ name, url }) => early(name, [documentPattern(url)], true)),
  ];
}

/** What each registration says, as far as this run of the background knows: a page on its way does not wait for a look. */
let known: Map<string, string> | null = null;
const essence = ({ js, matches }: Script): string => JSON.stringify([js, matches]);

async function look(): Promise<Map<string, string>> {
  const there = await api.scripting.getRegisteredContentScripts();
  return (known ??= new Map(there.map((script) => [script.id, essence(script)])));
}

/** What is added is added at once. What goes, goes after that, one after the other. */
let adding: Promise<unknown> = Promise.resolve();
let removing: Promise<unknown> = Promise.resolve();
const going = new Set<string>();
async function add(scripts: Script[]): Promise<void> {
  if (scripts.some(({ id }) => going.has(id))) await removing;
  const added = api.scripting.registerContentScripts(scripts);
  adding = Promise.allSettled([adding, added]);
  await added;
}
/** In its place: a page that comes meanwhile gets the one or the other. */
async function change(scripts: Script[]): Promise<void> {
  await adding;
  const changed = api.scripting.updateContentScripts(scripts);
  adding = Promise.allSettled([adding, changed]);
  await changed;
}
/** One that is not there, since it could not be added, would keep the others from going. */
async function removeThere(ids: string[]): Promise<void> {
  const there = await api.scripting.getRegisteredContentScripts({ ids });
  // in Chromium an empty list means all
  if (there.length)
    await api.scripting.unregisterContentScripts({ ids: there.map(({ id }) => id) });
}
function remove(ids: string[]): Promise<unknown> {
  for (const id of ids) going.add(id);
  removing = Promise.allSettled([removing, adding])
    .then(() => removeThere(ids))
    .finally(() => ids.forEach((id) => going.delete(id)));
  return removing;
}

/** From now on new documents that are covered get our scripts before their first line, and no others. Does nothing where that is so. */
export async function registerPageScripts(capture: CaptureOptions, cover: Cover): Promise<void> {
  const there = known ?? (await look());
  const scripts = scriptsFor(capture, cover);
  const missing = scripts.filter(({ id }) => !there.has(id));
  // of an earlier recording with other options, or of an origin whose pages share workers now
  const other = scripts.filter(
    (script) => there.has(script.id) && there.get(script.id) !== essence(script),
  );
  const stale = [...there.keys()].filter((id) => !scripts.some((s) => s.id === id));
  for (const id of stale) there.delete(id);
  for (const script of [...missing, ...other]) there.set(script.id, essence(script));
  try {
    const gone = stale.length ? remove(stale) : null;
    const changed = other.length ? change(other) : null;
    await Promise.all([gone, changed, missing.length ? add(missing) : null]);
  } catch (e) {
    known = null; // looked at again
    throw e;
  }
}

/** No new document gets anything of ours. */
export async function unregisterPageScripts(): Promise<void> {
  const ids = [...(await look()).keys()];
  known?.clear();
  if (ids.length) await remove(ids);
}

/**
 * Into the page that a tab shows now, or one frame of it; engines that it has loaded before stay unseen.
 * @throws where the browser forbids it
 */
export async function injectPageScripts(
  tabId: number,
  capture: CaptureOptions,
  frameId?: number,
): Promise<void> {
  const target =
    frameId === undefined ? { tabId, allFrames: true } : { tabId, frameIds: [frameId] };
  await api.scripting.executeScript({
    target,
    files: ['content.js'],
    world: 'ISOLATED',
    injectImmediately: true,
  });
  await api.scripting.executeScript({
    target,
    files: hookFiles(capture),
    world: 'MAIN',
    injectImmediately: true,
  });
}
