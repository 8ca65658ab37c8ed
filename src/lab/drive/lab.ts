/** Runs of the Lab in a browser of its own: drives the Lab's page, which runs them by the same queue as its buttons. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'puppeteer-core';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import type { LabDoor, LabRun } from '../experiments/door.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import { launchBrowser } from '../../drive/browser.ts';
import { browserFailed } from '../../terminal/failure.ts';

const POLL_MS = 100;

export interface LabOptions {
  /** Folder of the built extension. */
  extension: string;
  headed?: boolean;
  /** Longest time for one pass, ms. */
  patienceMs?: number;
  /** Passes done, and passes in all. */
  onProgress?: (done: number, all: number) => void;
}
/** Of a database on its way to the page, bytes: a message of a driver does not hold all of it. */
const PIECE_BYTES = 1 << 20;

/** A file piece by piece, as base64. */
export async function* piecesOf(file: Blob): AsyncGenerator<string> {
  for (let from = 0; from < file.size; from += PIECE_BYTES)
    yield Buffer.from(await file.slice(from, from + PIECE_BYTES).arrayBuffer()).toString('base64');
}
/** The database of the runs, which is one for all; null where they have none. */
export const databaseOf = (runs: readonly Run[]): Blob | null =>
  runs.find(({ database }) => database)?.database?.file ?? null;
/** What is said of a database that the Lab does not take. */
export const notTaken = (why: string): Error =>
  browserFailed(`The Lab does not take the database: ${why}`);

/** What the page's door answered. */
type Outcome = { done: LabRun[] } | { failure: string };

/** Open the Lab's page in a tab. @throws CommandFailure (3) where it does not get ready */
export async function openLab(page: Page, extensionId: string): Promise<Lab> {
  await page.goto(`chrome-extension://${extensionId}/lab/lab.html`);
  await page
    .waitForFunction(() => document.documentElement.dataset['ready'] === 'true', {
      timeout: 30_000,
      polling: 50,
    })
    .catch((e: Error) => {
      throw browserFailed(`The Lab's page did not get ready: ${e.message}`);
    });
  return new Lab(page);
}

export class Lab {
  constructor(readonly page: Page) {}

  /** All runs, on a database of the user's where they have one; one that fails does not stop the others. Asked for now and then: one call that waited for minutes would be given up. */
  async run(runs: readonly Run[], patienceMs?: number): Promise<LabRun[]> {
    const database = databaseOf(runs);
    if (database) await this.giveDatabase(database);
    await this.page.evaluate(
      (given, patience) => {
        const place = globalThis as unknown as {
          vfscopeLab: LabDoor;
          vfscopeLabDone: Outcome | null;
        };
        place.vfscopeLabDone = null;
        place.vfscopeLab.run(given, patience).then(
          (done) => (place.vfscopeLabDone = { done }),
          (error: unknown) =>
            (place.vfscopeLabDone = {
              failure: error instanceof Error ? error.message : String(error),
            }),
        );
      },
      runs as Run[],
      patienceMs,
    );
    let outcome: Outcome | null = null;
    while (outcome === null) {
      await delay(POLL_MS); // the page itself gives up what hangs
      outcome = await this.page.evaluate(
        () => (globalThis as unknown as { vfscopeLabDone: Outcome | null }).vfscopeLabDone,
      );
    }
    if ('failure' in outcome) throw browserFailed(`The Lab's page failed: ${outcome.failure}`);
    return outcome.done;
  }

  private async giveDatabase(file: Blob): Promise<void> {
    for await (const piece of piecesOf(file))
      await this.page.evaluate(
        (given) => (globalThis as unknown as { vfscopeLab: LabDoor }).vfscopeLab.addPiece(given),
        piece,
      );
    const why = await this.page.evaluate(() =>
      (globalThis as unknown as { vfscopeLab: LabDoor }).vfscopeLab.takeDatabase().then(
        () => null,
        (error: Error) => error.message,
      ),
    );
    if (why !== null) throw notTaken(why);
  }

  /** One pass with every layer recorded: the bytes of a .vfst file. */
  async trace(run: Run): Promise<Uint8Array<ArrayBuffer>> {
    const base64 = await this.page.evaluate(
      (given) => (globalThis as unknown as { vfscopeLab: LabDoor }).vfscopeLab.trace(given),
      run,
    );
    return new Uint8Array(Buffer.from(base64, 'base64'));
  }

  /** A recording's VFS calls on another configuration. @param trace bytes of a .vfst file; the replay is answered as one, too */
  async replay(
    trace: Uint8Array,
    config: Config,
  ): Promise<{ report: ReplayReport; trace: Uint8Array<ArrayBuffer>; left: string[] }> {
    const done = await this.page.evaluate(
      (given, on) =>
        (globalThis as unknown as { vfscopeLab: LabDoor }).vfscopeLab.replay(given, on),
      Buffer.from(trace).toString('base64'),
      config,
    );
    return { ...done, trace: new Uint8Array(Buffer.from(done.trace, 'base64')) };
  }

  /** What runs have left in storage. */
  storage(): Promise<string[]> {
    return this.page.evaluate(() =>
      (globalThis as unknown as { vfscopeLab: LabDoor }).vfscopeLab.storage(),
    );
  }
}

/**
 * Run in a fresh headless browser, which is closed again.
 * @throws CommandFailure (3) without a browser or a build, or when the page fails
 */
export async function runLab(runs: readonly Run[], options: LabOptions): Promise<LabRun[]> {
  const { extension, headed = false, patienceMs, onProgress } = options;
  const driven = await launchBrowser({ extension, headed });
  try {
    const page = await driven.firstPage();
    if (onProgress) await page.exposeFunction('vfscopeLabProgress', onProgress);
    const lab = await openLab(page, driven.extensionId);
    return await lab.run(runs, patienceMs);
  } finally {
    await driven.close();
  }
}
