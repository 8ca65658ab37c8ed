// A demo visitor's actions: imports notes, searches, adds some notes one by one. A script for
// `vfscope record --script`.

/** The demo reports its state in `body[data-state]` and `#status`. */
const says = (page, start) =>
  page.waitForFunction(
    (text) =>
      document.body.dataset.state === 'ready' &&
      document.querySelector('#status').textContent.startsWith(text),
    { polling: 50 },
    start,
  );

export default async function useDemo(page) {
  await says(page, 'Opened in');
  await page.click('#import');
  await says(page, 'Imported');
  await page.type('#search', 'sourdough', { delay: 30 });
  await page.waitForFunction(
    () => document.querySelector('#summary').textContent.includes('found for “sourdough”'),
    { polling: 50 },
  );
  await page.click('#one-by-one');
  await says(page, 'Added 100 notes');
}
