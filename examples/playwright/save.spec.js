import { expect, test } from 'vfscope/playwright';

test('saving a note is one commit', async ({ page, recording }) => {
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Save' })).toBeEnabled(); // the database is open
  await page.getByLabel('Note').fill('Buy milk');
  const trace = await recording.during(async () => {
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('listitem')).toHaveText(['Buy milk']);
  });
  await expect(trace).toStayWithin({ commits: 1, syncs: 3 });
});
