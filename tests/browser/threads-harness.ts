/** What the tests of threads read from a saved recording and from the panel. */
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { summaryOf, type Summary } from '../../src/analysis/report/summary.ts';
import { Op } from '../../src/event/event.ts';
import type { ThreadStore, TraceStore } from '../../src/trace/store.ts';
import { savedStore } from './extension-harness.ts';

interface Saved {
  store: TraceStore;
  summary: Summary;
}

/** Save the panel's recording and read it back. */
export async function saved(driven: DrivenBrowser, panel: Panel): Promise<Saved> {
  const store = await savedStore(driven, panel);
  return { store, summary: summaryOf(store) };
}

interface Mark {
  name: string;
  /** Microseconds of trace time. */
  t0: number;
}
/** The app's performance marks on a thread, in order. */
export function marksOf({ events, definitions }: ThreadStore): Mark[] {
  const marks: Mark[] = [];
  for (let row = 0; row < events.count; row++) {
    if (events.op[row] !== Op.mark) continue;
    const name = definitions.get(events.object[row]!);
    marks.push({ name: name?.kind === 'name' ? name.text : '', t0: events.t0[row]! });
  }
  return marks;
}

/** Events of one operation on a thread. */
export function countOf({ events }: ThreadStore, op: number): number {
  let count = 0;
  for (let row = 0; row < events.count; row++) if (events.op[row] === op) count++;
  return count;
}

/** The one thread that made this mark. */
export function threadOf(store: TraceStore, label: string): ThreadStore {
  const found = store.threads.filter((thread) =>
    marksOf(thread).some(({ name }) => name === `own ${label}`),
  );
  if (found.length !== 1)
    throw new Error(`${found.length} threads made the mark "own ${label}"; expected one`);
  return found[0]!;
}

/** The panel's notices as the user reads them, expanded. */
async function noticesIn(panel: Panel): Promise<string[]> {
  return panel.frame.evaluate(async () => {
    document
      .querySelector<HTMLElement>('[data-testid="open-notices"][aria-expanded="false"]')
      ?.click();
    await new Promise((done) => setTimeout(done));
    return [...document.querySelectorAll<HTMLElement>('[data-testid="notice"]')].map((e) =>
      e.innerText.trim(),
    );
  });
}

/** Waits until the panel shows a matching notice. @returns its text */
export async function notice(panel: Panel, like: RegExp): Promise<string> {
  const end = Date.now() + 10_000;
  for (;;) {
    const all = await noticesIn(panel);
    const found = all.find((text) => like.test(text));
    if (found !== undefined) return found;
    if (Date.now() > end)
      throw new Error(`no notice like ${String(like)} within 10 s; there are:\n${all.join('\n')}`);
    await panel.frame
      .waitForFunction(
        (known) => document.querySelectorAll('[data-testid="notice"]').length !== known,
        {
          timeout: 1000,
          polling: 50,
        },
        all.length,
      )
      .catch(() => undefined);
  }
}
