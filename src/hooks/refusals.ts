/** Why a worker stays native because of a page policy that was known before the worker was made. */
import type { Refusal } from '../protocol/page-policy.ts';

export const REFUSED: Record<Refusal, string> = {
  types: 'the page uses Trusted Types. Turn them off while you record.',
  blob: "the page's CSP forbids blob: workers. Allow blob: in worker-src while you record.",
  import: "the page's CSP forbids scripts of its origin. Add 'self' to script-src and worker-src.",
  copy: "the page's CSP forbids blob: scripts. Make the worker's Blob from strings.",
  lifted: '',
  shared: "only this tab's policy was changed. Press Record these workers.",
  wasm: "the page's CSP forbids WebAssembly. Add 'wasm-unsafe-eval' to its script-src.",
};
/** Why no worker started from its URL. */
export const NOT_STARTED = "its script is missing or isn't JavaScript.";
/** What the page's policies must allow for our workers. Each is checked. */
export const ANY_WORKER = ['types', 'blob'] as const;
export const NETWORK_WORKER = [...ANY_WORKER, 'import', 'wasm'] as const;

/**
 * Whether a policy refused a worker from a blob: URL. For workers, every browser reports this
 * directive, whichever one the page has.
 */
export function isBlobRefused(event: Event): boolean {
  const { blockedURI, effectiveDirective } = event as SecurityPolicyViolationEvent;
  return blockedURI.startsWith('blob') && effectiveDirective === 'worker-src';
}
