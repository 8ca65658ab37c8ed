/** Why a run failed, as text with the next step. */

const REFUSED =
  /SecurityError|A mutation operation was attempted on a database that did not allow mutations|InvalidStateError.*(private|indexedDB)/i;
/** Whether the browser refuses storage here: private windows, blocked site data. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && REFUSED.test(`${error.name}: ${error.message}`);

/** @param lastError the VFS's text about it; '' = none */
export function explain(error: unknown, lastError: string): string {
  const chain: string[] = [];
  for (
    let e: unknown = error;
    e !== undefined && e !== null && chain.length < 5;
    e = e instanceof Error ? e.cause : undefined
  )
    chain.push(e instanceof Error ? `${e.name}: ${e.message}` : String(e));
  const all = [...chain, lastError].join(' ');
  const said = error instanceof Error ? error.message : String(error);
  const detail = lastError && !said.includes(lastError) ? ` The VFS reports: ${lastError}.` : '';
  if (/QuotaExceeded|database or disk is full|exceed\w* .*quota|quota .*exceed/i.test(all))
    return `Storage is full: the browser's quota for this extension, or the disk (${said}). Free some space, or make the workload smaller.${detail}`;
  if (REFUSED.test(all))
    return `The browser refuses storage here, as it does in private windows and where site data are blocked (${said}).${detail}`;
  if (/NoModificationAllowedError|Access Handles cannot be created|is open in another/i.test(all))
    return `Another connection, tab, or earlier run holds the file (${said}). Close it and run again.${detail}`;
  if (/transaction (?:was )?aborted|AbortError/i.test(all))
    return `IndexedDB aborted a transaction (${said}), as it does when the storage quota or the disk is full.${detail}`;
  return said + detail;
}
