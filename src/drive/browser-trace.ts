/** Chromium's own tracing while a recording runs. A browser takes one trace at a time. */
import type { Browser } from 'puppeteer-core';
import { browserFailed } from '../terminal/failure.ts';

/** An event of Chromium's trace format; times in microseconds of its monotonic clock. */
export interface BrowserEvent {
  name: string;
  cat: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  id?: string;
  id2?: { local?: string; global?: string };
  args: Record<string, unknown>;
}

/** The result of a trace. */
export interface Traced {
  events: readonly BrowserEvent[];
  /** false = the browser's buffer was full, and some events are lost. */
  isWhole: boolean;
}

/** The browser's events until `end`. */
export class BrowserTrace {
  private constructor(private readonly stop: () => Promise<Traced>) {}

  /**
   * @param categories of Chromium's tracing
   * @param wanted returns whether to retain an event
   * @throws CommandFailure (exit code 3) where the browser traces already
   */
  static async begin(
    browser: Browser,
    categories: readonly string[],
    wanted: (event: BrowserEvent) => boolean,
  ): Promise<BrowserTrace> {
    const session = await browser.target().createCDPSession();
    const events: BrowserEvent[] = [];
    session.on('Tracing.dataCollected', ({ value }) => {
      for (const event of value as unknown as BrowserEvent[]) if (wanted(event)) events.push(event);
    });
    try {
      await session.send('Tracing.start', {
        transferMode: 'ReportEvents',
        traceConfig: {
          recordMode: 'recordAsMuchAsPossible',
          includedCategories: [...categories],
          excludedCategories: ['*'],
        },
      });
    } catch (e) {
      throw browserFailed(
        `The browser can't be traced: ${(e as Error).message}. Stop what traces it already, or record without --cpu and --below-storage.`,
      );
    }
    return new BrowserTrace(async () => {
      const complete = new Promise<{ dataLossOccurred: boolean }>((resolve) =>
        session.once('Tracing.tracingComplete', resolve),
      );
      await session.send('Tracing.end');
      const { dataLossOccurred } = await complete;
      await session.detach();
      return { events, isWhole: !dataLossOccurred };
    });
  }

  end(): Promise<Traced> {
    return this.stop();
  }
}
