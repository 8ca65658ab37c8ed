/** What a browser is called. */

/** `Chromium 151`, `Firefox 140`; the whole text where it says neither. */
export function browserOf(userAgent: string): string {
  const found = /(Firefox|Edg|OPR|Chrom(?:e|ium))\/(\d+)/g;
  const names = [...userAgent.matchAll(found)];
  const last = names.at(-1);
  if (last)
    return `${{ Edg: 'Edge', OPR: 'Opera', Chrome: 'Chrome' }[last[1]!] ?? last[1]} ${last[2]}`;
  const safari = /Version\/([\d.]+).*Safari\//.exec(userAgent);
  return safari ? `Safari ${safari[1]}` : userAgent;
}
