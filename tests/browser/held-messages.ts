// Holds a page's requests to the store's worker: counts them, and shows what the panel does until
// they are answered.
import type { Page } from 'puppeteer-core';

interface HeldMessages {
  /** Number of held messages. */
  kept(): Promise<number>;
  /** Send them; later ones are held. */
  pass(): Promise<void>;
  /** Send them, and stop holding. */
  release(): Promise<void>;
}

/** @param name of a method of the session, or of a query */
export async function holdMessages(page: Page, name: string): Promise<HeldMessages> {
  await page.evaluate((wanted: string) => {
    const { postMessage } = Worker.prototype;
    const held: (() => void)[] = [];
    Worker.prototype.postMessage = function (
      this: Worker,
      message: { method?: string; args?: unknown[] },
      ...rest: [StructuredSerializeOptions]
    ) {
      const send = (): void => postMessage.call(this, message, ...rest);
      if (message.method === wanted || message.args?.[0] === wanted) held.push(send);
      else send();
    } as typeof postMessage;
    Object.assign(window, {
      held,
      pass: () => held.splice(0).forEach((send) => send()),
      release: () => {
        Worker.prototype.postMessage = postMessage;
        for (const send of held) send();
      },
    });
  }, name);
  return {
    kept: () => page.evaluate(() => (window as unknown as { held: unknown[] }).held.length),
    pass: () => page.evaluate(() => (window as unknown as { pass(): void }).pass()),
    release: () => page.evaluate(() => (window as unknown as { release(): void }).release()),
  };
}
