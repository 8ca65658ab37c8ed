/**
 * Our two scripts in web pages. They are registered only for the origins of a recording, only while
 * it runs, and injected into open pages.
 *
 * Another tab may show the same origin. So the hook waits until it knows that its tab is recorded.
 * In an announced document, a separate registration tells it at once and ends when the document is
 * there. Else the content script's answer tells it.
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

/** Which documents get our scripts. */
export interface Cover {
  /** Origins of recorded pages and their frames. */
  origins: string[];
  /**
   * On their way into a recorded tab, each under a name that is used once. The hook there records
   * from the first line.
   */
  announced: { name: string; url: string }[];
  /** Origins that are recorded in every tab. */
  whole: string[];
  /**
   * On their way, with headers that refuse this. The content script there knows it before the first
   * line.
   */
  guarded: { name: string; url: string; refused: Refusal[] }[];
  /** Origins whose SharedWorkers run with our script. */
  shared: string[];
}
type Script = chrome.scripting.RegisteredContentScript;

/** Longer addresses are announced by their beginning. */
const LONGEST_PATTERN = 2000;
/** The hook, preceded by the scripts that set its options. */
const hookFiles = (capture: CaptureOptions): string[] => [...captureScripts(capture), 'hooks.js'];

/**
 * Firefox, where a missing manifest key reads null, and Safari don't support ports in patterns.
 * There, a pattern covers all ports of a host.
 */
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
  // patterns tell `/?` from `/`, `search` doesn't
  const path = pathname + (search || (url.endsWith('?') ? '?' : ''));
  return (
    originPattern(origin).slice(0, -2) +
    (path.length > LONGEST_PATTERN ? `${path.slice(0, LONGEST_PATTERN)}*` : path)
  );
}

/** Where requests can't be followed in time, every page gets our scripts and asks. */
const WEB = ['http://*/*', 'https://*/*'];

/** Each origin has its own registrations: adding one takes effect sooner than changing one. */
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
  // without following requests, no document is announced, so the hook doesn't wait
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
          // pages of other origins ask, and learn that they aren't recorded
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

/**
 * The content of each registration, as far as this run of the background knows. A page on its way
 * doesn't wait for a query.
 */
let known: Map<string, string> | null = null;
const essence = ({ js, matches }: Script): string => JSON.stringify([js, matches]);

async function look(): Promise<Map<string, string>> {
  const there = await api.scripting.getRegisteredContentScripts();
  return (known ??= new Map(there.map((script) => [script.id, essence(script)])));
}

/** Additions happen at once, removals after that, one after the other. */
let adding: Promise<unknown> = Promise.resolve();
let removing: Promise<unknown> = Promise.resolve();
const going = new Set<string>();
async function add(scripts: Script[]): Promise<void> {
  if (scripts.some(({ id }) => going.has(id))) await removing;
  const added = api.scripting.registerContentScripts(scripts);
  adding = Promise.allSettled([adding, added]);
  await added;
}
/** Replaces it: a page that comes meanwhile gets one or the other. */
async function change(scripts: Script[]): Promise<void> {
  await adding;
  const changed = api.scripting.updateContentScripts(scripts);
  adding = Promise.allSettled([adding, changed]);
  await changed;
}
/**
 * A registration that is missing because it couldn't be added would block the removal of others.
 */
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

/**
 * From now on, the covered new documents get our scripts before their first line, and no others do.
 * Does nothing where that is so already.
 */
export async function registerPageScripts(capture: CaptureOptions, cover: Cover): Promise<void> {
  const there = known ?? (await look());
  const scripts = scriptsFor(capture, cover);
  const missing = scripts.filter(({ id }) => !there.has(id));
  // of an earlier recording with other options, or of an origin whose pages now share workers
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
    known = null; // checked again
    throw e;
  }
}

/** New documents get nothing of ours. */
export async function unregisterPageScripts(): Promise<void> {
  const ids = [...(await look()).keys()];
  known?.clear();
  if (ids.length) await remove(ids);
}

/**
 * Inject into the page that a tab shows, or into one frame of it. Engines that it has already
 * loaded aren't recorded.
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
