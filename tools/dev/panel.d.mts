/** Build the page and its worker into a folder. */
export function buildPanel(out: string): Promise<void>;
/** Serve a built panel on 127.0.0.1, and the files of `traces` under /traces/ by name. */
export function servePanel(options: {
  out: string;
  port?: number;
  traces?: Record<string, string>;
}): Promise<{ url: string; rebuilt: () => void; close: () => Promise<void> }>;
