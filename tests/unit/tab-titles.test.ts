import { expect, test } from 'vitest';
import { tabTitles } from '../../src/viewer/ui/tab-titles.ts';

test.each([
  [['One'], '“One”'],
  [['One', 'Two', 'One'], '“One” (2 times), “Two”'],
  [['One', 'Two', 'Three', 'Four', 'One'], '“One” (2 times), “Two”, “Three”, …'],
])('titles %j: %s', (titles, text) => {
  expect(tabTitles(titles)).toBe(text);
});
