/** The browser that a user agent names. Those that are made of another one name both, their own name last. */
const NAMES: Readonly<Record<string, string>> = {
  Firefox: 'Firefox',
  Edg: 'Edge',
  OPR: 'Opera',
  Chrome: 'Chrome',
  Chromium: 'Chromium',
};

export interface BrowserVersion {
  /** As the user agent has it, and as people do. */
  token: string;
  name: string;
  /** Digits and dots; of all but Safari the main version. */
  version: string;
}

/** @returns null where it names none of those known here */
export function browserOf(userAgent: string): BrowserVersion | null {
  const [token, version] = [...userAgent.matchAll(/(Firefox|Edg|OPR|Chrom(?:e|ium))\/(\d{1,4})\b/g)]
    .map((match) => match.slice(1) as [string, string])
    .at(-1) ?? ['', ''];
  if (token) return { token, name: NAMES[token]!, version };
  const safari = /Version\/(\d{1,4}[\d.]*).*Safari\//.exec(userAgent);
  return safari && { token: 'Safari', name: 'Safari', version: safari[1]! };
}

/** `Chromium 151`, `Firefox 140`; the whole text where it says neither. */
export function browserName(userAgent: string): string {
  const found = browserOf(userAgent);
  return found ? `${found.name} ${found.version}` : userAgent;
}
