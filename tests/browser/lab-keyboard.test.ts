// The Lab's page without a mouse, and with a screen reader: Tab reaches every control, shows its
// focus, and each has a name; axe finds nothing serious, light and dark.
import { beforeEach, describe, expect, it } from 'vitest';
import { serious } from './lab-axe.ts';
import { finished, page, polling, useLabPage } from './lab-harness.ts';

useLabPage();
// past the questions, by keyboard alone
beforeEach(() => key('[data-testid="place-experiments"]', 'Enter'));

/** Presses Tab until the focus is there. */
async function tabTo(selector: string): Promise<void> {
  for (let presses = 0; presses < 300; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector))
      return;
  }
  throw new Error(`Tab does not lead to ${selector}`);
}
const key = async (selector: string, name: 'Enter' | 'Space'): Promise<void> => {
  await page.$eval(selector, (e) => (e as HTMLElement).focus());
  await page.keyboard.press(name);
};
/**
 * What the Tab key reaches on its way through the page, with elements that lack a name or a focus
 * ring.
 */
async function walk(): Promise<{ reached: number; all: number; faults: string[] }> {
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    const can =
      'button:not(:disabled), select:not(:disabled), input:not(:disabled), textarea, summary, a[href]';
    const shown = [...document.querySelectorAll<HTMLElement>(can)].filter((e) =>
      e.checkVisibility(),
    );
    Object.assign(window, { toReach: new Set(shown), controls: shown.length });
  });
  const faults: string[] = [];
  for (let presses = 0; presses < 400; presses++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const at = document.activeElement as HTMLElement;
      const left = (window as unknown as { toReach: Set<Element> }).toReach;
      const fresh = left.delete(at);
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      const named =
        (
          at.textContent ||
          at.ariaLabel ||
          (at as HTMLInputElement).labels?.[0]?.textContent ||
          at.title ||
          ''
        ).trim() !== '';
      const ring = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
      return {
        fresh,
        left: left.size,
        fault: named && ring ? '' : `${at.outerHTML.slice(0, 120)} named: ${named}, ring: ${ring}`,
      };
    });
    if (stop.fresh && stop.fault) faults.push(stop.fault);
    if (stop.left === 0) break;
  }
  const { all, left } = await page.evaluate(() => {
    const { toReach, controls } = window as unknown as {
      toReach: Set<HTMLElement>;
      controls: number;
    };
    return { all: controls, left: [...toReach].map((e) => e.outerHTML.slice(0, 120)) };
  });
  return {
    all,
    reached: all - left.length,
    faults: [...faults, ...left.map((e) => `not reached: ${e}`)],
  };
}
it('a sweep is selected, run, and examined, and a pass is excluded, by keyboard alone', async () => {
  await tabTo('[data-testid="offer-own-sql"]');
  await page.keyboard.press('Enter');
  await tabTo('[data-testid="knob-pageSize-1024"]');
  await page.keyboard.press('Space');
  for (const size of [4096, 8192]) await key(`[data-testid="knob-pageSize-${size}"]`, 'Space');
  await key('[data-testid="mode-time"]', 'Space');
  await tabTo('[data-testid="lab-run"]');
  await page.keyboard.press('Enter');
  await finished(3);
  await tabTo('[data-testid="passes"] summary');
  await page.keyboard.press('Enter');
  await tabTo('[data-testid="leave-out-1-2"]');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () => document.activeElement?.matches('[data-testid="leave-out-reason"]'),
    { polling },
  );
  await page.keyboard.type('the machine slept');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[data-testid="left-out"]');
  const { all, reached, faults } = await walk();
  expect(faults).toEqual([]);
  expect([reached, all > 60]).toEqual([all, true]);
});

describe.each(['light', 'dark'])('%s', (theme) => {
  it('no serious fault at first, after a sweep, for a count by function, and in the replay box', async () => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    const found: Record<string, string[]> = { experiment: await serious(page) };
    await key('[data-testid="offer-sequential-write"]', 'Enter');
    for (const n of [1, 10, 200]) await key(`[data-testid="parameter-transactions-${n}"]`, 'Space');
    await key('[data-testid="lab-run"]', 'Enter');
    await finished(3);
    await page.$eval('[data-testid="detail-functions"] summary', (e) => (e as HTMLElement).click());
    await key('[data-testid="count-functions"]', 'Enter');
    await page.waitForSelector('[data-testid="detail-functions"] tbody tr');
    found['counted'] = await serious(page);
    await key('[data-testid="mode-time"]', 'Space');
    await key('[data-testid="lab-run"]', 'Enter');
    await finished(3);
    await page.$eval('[data-testid="passes"] summary', (e) => (e as HTMLElement).click());
    await key('[data-testid="leave-out-0-1"]', 'Enter');
    await page.waitForSelector('[data-testid="leave-out-reason"]');
    found['timed'] = await serious(page);
    await key('[data-testid="offer-replay"]', 'Enter');
    found['replay'] = await serious(page);
    expect(found).toEqual({ experiment: [], counted: [], timed: [], replay: [] });
  });
});

it('with results on screen it fits from 400 to 1400 px: wide tables scroll in their own boxes', async () => {
  await key('[data-testid="offer-sequential-write"]', 'Enter');
  for (const n of [1, 10, 200]) await key(`[data-testid="parameter-transactions-${n}"]`, 'Space');
  await key('[data-testid="mode-time"]', 'Space');
  await key('[data-testid="lab-run"]', 'Enter');
  await finished(3);
  await page.$eval('[data-testid="passes"] summary', (e) => (e as HTMLElement).click());
  for (const width of [400, 800, 1400]) {
    await page.setViewport({ width, height: 900 });
    await page.waitForFunction((w) => innerWidth === w, { polling }, width);
    // a chart takes its new width a moment later
    await page.waitForFunction(
      () => {
        const boxes = [
          ...document.querySelector('main')!.querySelectorAll('section, details, svg, p, ul, form'),
        ];
        return (
          document.documentElement.scrollWidth <= innerWidth &&
          boxes.every((e) => e.getBoundingClientRect().right <= innerWidth + 1)
        );
      },
      { polling, timeout: 30_000 },
    );
  }
});
