/**
 * Workers of a driven Chromium that the extension can't wrap: service workers, and dedicated and
 * shared workers that a page's policy protects. The browser pauses each new worker before its first
 * line. Before resuming it, we can insert the hook.
 *
 *   browser   attachedToTarget: the worker waits
 *   we        setAutoAttach, for workers that it will make
 *   we        ask the realm that made it: do you follow this one?   no = nothing records that realm; one that is wrapped is not asked for
 *   we        the hook, which begins with the app's script (at-first-touch.ts)
 *   we        runIfWaitingForDebugger, whatever came before
 *
 * No realm follows shared and service workers: the hook there only talks to recorded pages of its
 * origin, and ends where there are none.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Protocol } from 'devtools-protocol';
import type { CDPSession, Frame, Page } from 'puppeteer-core';
import { atFirstTouch } from './at-first-touch.ts';
import { inTime } from './in-time.ts';
import { carriedScripts, filteredEnvironment, type CaptureOptions } from '../protocol/capture.ts';
import type { RecordingScope } from '../protocol/messages.ts';
import { NATIVES_KEY, WRAPPED } from '../protocol/native-workers.ts';

type TargetInfo = Protocol.Target.TargetInfo;

/**
 * A worker waits this long for an answer, for example of a busy page. After that it runs without
 * the hook, and the page adds a note.
 */
const ANSWER_MS = 1000;
const SHARED = ['shared_worker', 'service_worker'];
const DEDICATED = ['worker', 'iframe'];

/**
 * The hook for pages and workers in that browser.
 * @param extension folder of the built extension
 * @returns null in an older build
 */
export function drivenHook(extension: string): string | null {
  const file = join(extension, '../cli/driven-hooks.js');
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/**
 * Scripts to run before the hook, for messages and instructions; '' where neither is captured.
 * @param extension folder of the built extension
 */
export const carriedText = (extension: string, capture: CaptureOptions): string =>
  carriedScripts(capture)
    .map((file) => readFileSync(join(extension, file), 'utf8'))
    .join('');

/**
 * The script for a worker.
 * @param hook script for pages: a function, called
 * @param carried of `carriedText`
 */
function workerScript(hook: string, capture: CaptureOptions, carried: string): string {
  const text = hook.slice(0, hook.lastIndexOf('})(') + 2);
  const [before, environment] = filteredEnvironment(capture, carried);
  const begin = `()=>{try{${before}${text}(${environment})}catch(e){console.warn("vfscope: this worker can't be recorded:",e)}}`;
  return `(${String(atFirstTouch)})(${begin})\n//# sourceURL=vfscope://hook`;
}

/**
 * Put the hook into new workers that the extension doesn't wrap, until the browser ends.
 * @param hook of `drivenHook`, which is in the pages, too
 * @param carried of `carriedText`
 */
export async function hookNatives(
  page: Page,
  {
    scope,
    hook,
    capture,
    carried,
  }: { scope: RecordingScope; hook: string; capture: CaptureOptions; carried: string },
): Promise<void> {
  const browser = page.browser();
  const script = workerScript(hook, capture, carried);
  const ofShared = (info: TargetInfo): Promise<boolean> =>
    Promise.resolve(showsOrigin(page, info.url));
  await holdWorkers(await browser.target().createCDPSession(), SHARED, script, ofShared);
  const hold = async (one: Page): Promise<void> =>
    holdWorkers(await one.createCDPSession(), DEDICATED, script, (info) => frameFollows(one, info));
  await hold(page);
  if (scope === 'origin')
    browser.on('targetcreated', (target) => {
      if (target.type() !== 'page') return;
      void target
        .page()
        .then((other) => other && hold(other))
        .catch(() => {}); // it has gone
    });
}

/** @param follows whether the worker's creator handles the hook's messages */
async function holdWorkers(
  session: CDPSession,
  types: string[],
  script: string,
  follows: (info: TargetInfo) => Promise<boolean>,
): Promise<void> {
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    const target = session.connection()?.session(sessionId);
    if (target) void letGo(target, targetInfo, script, follows);
  });
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    filter: types.map((type) => ({ type })),
  });
}

/** Never rejects. */
async function letGo(
  target: CDPSession,
  info: TargetInfo,
  script: string,
  follows: (info: TargetInfo) => Promise<boolean>,
): Promise<void> {
  const isShared = SHARED.includes(info.type);
  const inner = info.type === 'iframe' ? follows : (made: TargetInfo) => follow(target, made.url);
  // commands of a session run in order: this one before the worker runs
  if (!isShared) void holdWorkers(target, DEDICATED, script, inner).catch(() => {});
  const needsHook = info.type !== 'iframe' && !info.url.endsWith(WRAPPED);
  if (needsHook && (await inTime(ANSWER_MS, follows(info))))
    await inTime(ANSWER_MS, evaluate(target, script));
  await target.send('Runtime.runIfWaitingForDebugger').catch(() => {});
  // a session would keep an unused service worker alive
  if (isShared) await target.detach().catch(() => {});
}

/**
 * Does the page show a frame of that origin? A SharedWorker that pages start with our script has a
 * blob: URL, which has no such frame.
 */
function showsOrigin(page: Page, url: string): boolean {
  const originOf = (address: string): string =>
    /^https?:/.test(address) && URL.canParse(address) ? new URL(address).origin : '';
  const origin = originOf(url);
  return origin !== '' && page.frames().some((frame) => originOf(frame.url()) === origin);
}

const question = (url: string): string =>
  `globalThis[Symbol.for(${JSON.stringify(NATIVES_KEY)})]?.(${JSON.stringify(url)})===true`;
/** Asked of the worker that made one. */
const follow = async (maker: CDPSession, url: string): Promise<boolean> =>
  (await evaluate(maker, question(url))) === true;

/** Asked of the frame that made the worker. */
async function frameFollows(page: Page, { url, parentFrameId }: TargetInfo): Promise<boolean> {
  // puppeteer's own name for it
  const idOf = (frame: Frame): string => (frame as unknown as { _id: string })._id;
  const maker = page.frames().find((frame) => idOf(frame) === parentFrameId);
  return (await maker?.evaluate(question(url))) === true;
}

async function evaluate(session: CDPSession, expression: string): Promise<unknown> {
  const { result } = await session.send('Runtime.evaluate', { expression });
  return result.value as unknown;
}
