/**
 * The browser in a user agent. Browsers that are based on another one name both, their own name
 * last.
 */
const NAMES: Readonly<Record<string, string>> = {
  Firefox: 'Firefox',
  Edg: 'Edge',
  OPR: 'Opera',
  Chrome: 'Chrome',
  Chromium: 'Chromium',
};

export interface BrowserVersion {
  /** Name in the user agent, and for people. */
  token: string;
  name: string;
  /** Digits and dots; only the main version, except for Safari. */
  version: string;
}

/** @returns null if it names no browser known here */
export function browserOf(userAgent: string): BrowserVersion | null {
  const [token, version] = [...userAgent.matchAll(/(Firefox|Edg|OPR|Chrom(?:e|ium))\/(\d{1,4})\b/g)]
    .map((match) => match.slice(1) as [string, string])
    .at(-1) ?? ['', ''];
  if (token) return { token, name: NAMES[token]!, version };
  const safari = /Version\/(\d{1,4}[\d.]*).*Safari\//.exec(userAgent);
  return safari && { token: 'Safari', name: 'Safari', version: safari[1]! };
}

/** `Chromium 151`, `Firefox 140`; the whole text if it names none. */
export function browserName(userAgent: string): string {
  const found = browserOf(userAgent);
  return found ? `${found.name} ${found.version}` : userAgent;
}
