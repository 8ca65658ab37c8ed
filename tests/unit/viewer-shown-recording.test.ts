// The name of what is shown, and whether it belongs to the tab's page.
import { expect, it } from 'vitest';
import { otherPage, recordingName } from '../../src/viewer/ui/shown-recording.ts';

const page = { kind: 'page', url: 'http://app.example:81/notes' };
const worker = { kind: 'worker', url: 'blob:http://cdn.example/1' };

it('is named by page and length, or by its worker without a page', () => {
  expect(recordingName([worker, page], null, 31e6)).toBe('app.example:81, 31 s');
  expect(recordingName([worker], null, 31e6)).toBe('cdn.example, 31 s');
  expect(recordingName([], null, 0)).toMatch(/^Recording, /);
});

it('belongs to another page only if both are known', () => {
  expect(otherPage([worker, page], 'http://app.example:81')).toBe(null);
  expect(otherPage([worker, page], '')).toBe(null);
  expect(otherPage([], 'http://other.example')).toBe(null);
  expect(otherPage([page], 'http://other.example')).toEqual({
    shown: 'app.example:81',
    tab: 'other.example',
  });
});
