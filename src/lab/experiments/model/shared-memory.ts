/** SharedArrayBuffer, which several VFSs and fault profiles need. */

/** @returns why `what` can't run here, without a period; null where it can */
export const whyNoSharedMemory = (what: string): string | null =>
  typeof SharedArrayBuffer === 'undefined'
    ? `${what} needs SharedArrayBuffer, which this browser gives to cross-origin isolated pages alone`
    : null;
