/** The Lab's page in Firefox, where WebDriver does not open pages of extensions: driven from the browser's own window. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import { browserFailed } from '../../terminal/failure.ts';
import { launchFirefox, type DrivenFirefox } from '../../drive/firefox.ts';
import type { LabRun } from '../experiments/door.ts';
import { databaseOf, notTaken, piecesOf, type LabOptions } from './lab.ts';

const POLL_MS = 100;
type Outcome = { done: LabRun[] } | { failure: string };

export class FirefoxLab {
  private constructor(private readonly driven: DrivenFirefox) {}

  /** Open the Lab's page in a tab. @param search of its address @throws CommandFailure (3) where it does not get ready */
  static async open(driven: DrivenFirefox, search = ''): Promise<FirefoxLab> {
    await driven.chrome.run(
      `const url = extension.getURL('lab/lab.html') + args[0];
       gBrowser.selectedTab = gBrowser.addTab(url, { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });`,
      search,
    );
    const ready = await driven.chrome.inView(
      'tab',
      `for (let i = 0; i < 300 && document.documentElement.dataset.ready !== 'true'; i++) await new Promise((done) => setTimeout(done, 50));
       return document.documentElement.dataset.ready === 'true';`,
    );
    if (!ready) throw browserFailed("The Lab's page did not get ready.");
    return new FirefoxLab(driven);
  }

  /** All runs; one that fails does not stop the others. Asked for now and then: no single call waits long. */
  async run(
    runs: readonly Run[],
    patienceMs?: number,
    onProgress?: LabOptions['onProgress'],
  ): Promise<LabRun[]> {
    const { chrome } = this.driven;
    const database = databaseOf(runs);
    if (database) await this.giveDatabase(database);
    await chrome.inView(
      'tab',
      `window.vfscopeLabDone = null;
       window.vfscopeLabProgress = (done, all) => { window.vfscopeLabAt = [done, all]; };
       window.vfscopeLab.run(args[0], args[1] ?? undefined).then(
         (done) => { window.vfscopeLabDone = { done }; },
         (error) => { window.vfscopeLabDone = { failure: String(error?.message ?? error) }; });`,
      runs,
      patienceMs ?? null,
    );
    let [outcome, told]: [Outcome | null, string] = [null, ''];
    while (outcome === null) {
      await delay(POLL_MS); // the page itself gives up what hangs
      const seen = (await chrome.inView(
        'tab',
        `return { outcome: window.vfscopeLabDone, at: window.vfscopeLabAt ?? null };`,
      )) as {
        outcome: Outcome | null;
        at: [number, number] | null;
      };
      outcome = seen.outcome;
      if (seen.at && told !== String(seen.at)) onProgress?.(...seen.at);
      told = String(seen.at);
    }
    if ('failure' in outcome) throw browserFailed(`The Lab's page failed: ${outcome.failure}`);
    return outcome.done;
  }

  private async giveDatabase(file: Blob): Promise<void> {
    const { chrome } = this.driven;
    for await (const piece of piecesOf(file))
      await chrome.inView('tab', 'window.vfscopeLab.addPiece(args[0]);', piece);
    const why = await chrome.inView(
      'tab',
      'return await window.vfscopeLab.takeDatabase().then(() => null, (error) => error.message);',
    );
    if (why !== null) throw notTaken(String(why));
  }

  /** A recording's VFS calls on another configuration. @param trace bytes of a .vfst file; the replay is answered as one, too */
  async replay(
    trace: Uint8Array,
    config: Config,
  ): Promise<{ report: ReplayReport; trace: Uint8Array<ArrayBuffer>; left: string[] }> {
    const done = (await this.driven.chrome.inView(
      'tab',
      'return await window.vfscopeLab.replay(args[0], args[1]);',
      Buffer.from(trace).toString('base64'),
      config,
    )) as { report: ReplayReport; trace: string; left: string[] };
    return { ...done, trace: new Uint8Array(Buffer.from(done.trace, 'base64')) };
  }

  /** What runs have left in storage. */
  async storage(): Promise<string[]> {
    return (await this.driven.chrome.inView(
      'tab',
      'return await window.vfscopeLab.storage();',
    )) as string[];
  }
}

/** Run in a fresh headless Firefox, which is closed again. @throws CommandFailure (3) without a browser or a build, or when the page fails */
export async function runLabInFirefox(
  runs: readonly Run[],
  { extension, headed, patienceMs, onProgress }: LabOptions,
): Promise<LabRun[]> {
  const driven = await launchFirefox({ extension, headed });
  try {
    return await (await FirefoxLab.open(driven)).run(runs, patienceMs, onProgress);
  } finally {
    await driven.close();
  }
}
