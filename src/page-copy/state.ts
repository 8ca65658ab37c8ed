/**
 * What the page's origin holds and can use right now: Web Locks, quota, isolation. Runs in the page
 * as text, so it uses nothing from outside its braces. Its only action is to hold a lock with a
 * random name during the first look, to find out which client the page itself is.
 */
import type { PageLock, PageState } from '../protocol/page-state.ts';

/** @param mostLocks maximum number of held locks, and of waiting ones */
export async function lookAtState(mostLocks: number): Promise<PageState> {
  const state: PageState = {
    origin: location.origin,
    userAgent: navigator.userAgent.slice(0, 500),
    locks: null,
    client: '',
    quota: null,
    usage: null,
    usageBy: [],
    persisted: null,
    secureContext: isSecureContext,
    crossOriginIsolated: globalThis.crossOriginIsolated,
    sharedMemory: typeof SharedArrayBuffer === 'function',
    opfs: isSecureContext && typeof navigator.storage.getDirectory === 'function',
    jspi: 'Suspending' in WebAssembly,
    failures: [],
  };
  const attempt = async (what: string, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (e) {
      state.failures.push(`${what}: ${(e instanceof Error ? e.message : String(e)).slice(0, 500)}`);
    }
  };
  if (!isSecureContext) {
    state.failures.push(
      "Locks, quota, and OPFS: this page isn't a secure context (https or localhost), so it has none",
    );
    return state;
  }

  /** Of this document, from the first look on. */
  const place = globalThis as unknown as { vfscopeClient?: string };
  async function ownClient(): Promise<string> {
    const name = `vfscope-${crypto.randomUUID()}`;
    let asked: Promise<LockManagerSnapshot> | undefined;
    try {
      // not async: the lock is released only after the query made here
      await navigator.locks.request(name, () => {
        asked = navigator.locks.query();
      });
    } catch (e) {
      // Firefox runs a callback of our isolated world, but doesn't return its result
      if (!asked) throw e;
    }
    const { held = [] } = (await asked) ?? {};
    return String(held.find((lock) => lock.name === name)?.clientId ?? '').slice(0, 500);
  }
  await attempt('Locks', async () => {
    state.client = place.vfscopeClient ??= await ownClient();
    const { held = [], pending = [] } = await navigator.locks.query();
    const listed = (locks: LockInfo[]): PageLock[] =>
      [...locks].slice(0, mostLocks).map(({ name = '', mode, clientId = '' }) => ({
        name: name.slice(0, 1000),
        mode: mode === 'shared' ? 'shared' : 'exclusive',
        client: clientId.slice(0, 500),
      }));
    const more = held.length > mostLocks || pending.length > mostLocks;
    state.locks = { held: listed(held), pending: listed(pending), more };
  });
  await attempt('Quota', async () => {
    const { quota, usage, usageDetails } = (await navigator.storage.estimate()) as {
      quota?: number;
      usage?: number;
      usageDetails?: Record<string, number>;
    };
    state.quota = quota ?? null;
    state.usage = usage ?? null;
    state.usageBy = Object.entries(usageDetails ?? {})
      .slice(0, 20)
      .map(([kind, bytes]) => ({ kind: kind.slice(0, 100), bytes }));
  });
  await attempt('Persistence', async () => {
    state.persisted = await navigator.storage.persisted();
  });
  return state;
}
