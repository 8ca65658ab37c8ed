/** A running server of the apps. */
export interface AppServer {
  /** `http://localhost:<port>`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The same server under `http://<label>.localhost:<port>`: a fresh origin in a browser profile that never saw the label. */
  origin(label: string): string;
  /** Where storage calls are counted: how many all pages made so far, by name. */
  counts(): Record<string, number>;
  close(): Promise<void>;
}

/** Response headers by path prefix: `/coi/<app>/` is cross-origin isolated, `/csp-self/<app>/` has a strict policy. */
export const VARIANTS: Readonly<Record<'coi' | 'csp-self', Readonly<Record<string, string>>>>;

/**
 * Serves tests/apps/ and node_modules/ to this machine. Rejects where the port is taken.
 * @param options `port` 0 (the default) takes a free one; `host` is the address to listen on, 127.0.0.1 by default; `counted` puts
 * count-storage.js in front of every script, `fixed` fix-chance.js; `behind` holds texts that are put behind files, by the files' names;
 * `before` is put in front of every script.
 */
export function createServer(options?: {
  port?: number;
  host?: string;
  counted?: boolean;
  fixed?: { readonly dateMoves: boolean };
  behind?: Readonly<Record<string, string>>;
  before?: string;
}): Promise<AppServer>;
