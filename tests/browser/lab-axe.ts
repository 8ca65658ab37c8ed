/** Serious findings of axe on a page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Violations that axe rates as serious. */
const SERIOUS = ['serious', 'critical'];
/** All other violations. */
export const ANY_IMPACT = ['minor', 'moderate', ...SERIOUS];

/** Violations with their locations. */
export async function serious(page: Page, impacts = SERIOUS): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(async () => {
    const tool = (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } })
      .axe;
    return tool.run({ resultTypes: ['violations'], iframes: false });
  });
  return violations
    .filter(({ impact }) => impacts.includes(impact ?? ''))
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map((n) => `${id}: ${n.target.join(' ')} ${n.html.slice(0, 140)}`),
    );
}
