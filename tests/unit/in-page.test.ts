/** The message about a page that the browser doesn't let extensions access. */
import { beforeEach, expect, test, vi } from 'vitest';
import { runInPage } from '../../src/platform/in-page.ts';

let url: string | undefined;
const api = vi.hoisted(() => ({
  scripting: { executeScript: vi.fn() },
  tabs: { get: vi.fn() },
}));
vi.mock('../../src/platform/extension-api.ts', () => ({ api }));
beforeEach(() => {
  api.scripting.executeScript.mockRejectedValue(
    new Error('Cannot access contents of the page. Extension manifest must request permission.'),
  );
  api.tabs.get.mockImplementation(() => Promise.resolve({ url }));
});

test.each([
  [
    undefined,
    'This page is hidden from extensions. Open a web page (http or https) and try again.',
  ],
  [
    'chrome://newtab/',
    "Extensions can't access chrome:// pages. Open a web page (http or https) and try again.",
  ],
  ['http://localhost/', /^Cannot access contents/],
])('of %s', async (of, said) => {
  url = of;
  await expect(runInPage(1, () => 1, [])).rejects.toThrow(said);
});

test("returns the page's answer unchanged", async () => {
  api.scripting.executeScript.mockResolvedValue([{ result: 7 }]);
  expect(await runInPage(1, () => 7, [])).toBe(7);
});
