// Queries that wait for a file also wait for its first picture, unless no picture is requested.
import { afterEach, expect, test, vi } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { FirstPicture } from '../../src/viewer/session/first-picture.ts';
import { yieldToMessages } from '../../src/viewer/yield.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { syntheticStore } from '../traces/synthetic.ts';

afterEach(() => void vi.useRealTimers());

test('the wait ends once a picture is answered and its wake requested, in either order, or if no picture was requested', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const picture = new FirstPicture();
  expect(picture.wake).toBe(0);
  picture.answered(); // of no file
  expect(picture.wake).toBe(0);
  for (const [first, second] of [
    ['answered', 'over'],
    ['over', 'answered'],
  ] as const) {
    let over = false;
    picture.watch();
    picture.begin();
    const whole = picture.out.then(() => (over = true));
    picture[first]();
    await vi.advanceTimersByTimeAsync(100);
    expect([over, picture.wake > 0]).toEqual([false, true]);
    picture[second]();
    await whole;
    expect(picture.wake).toBe(0);
  }
  picture.watch();
  picture.begin();
  await vi.advanceTimersByTimeAsync(1000);
  await picture.out;
  picture.watch();
  picture.begin();
  picture.answered();
  await vi.advanceTimersByTimeAsync(1000);
  await picture.out;
  expect(picture.wake).toBe(0);
});

test("if the timeline isn't on screen, queries wait for no picture", async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const picture = new FirstPicture();
  picture.begin();
  expect(picture.wake).toBeGreaterThan(0);
  picture.over();
  await picture.out;
  expect(picture.wake).toBe(0);
});

test('a query sent while a file is read is answered after the picture of all its events', async () => {
  const file = await saveTrace(syntheticStore({ events: 150_000, clockStepUs: 5 }));
  const order: string[] = [];
  let question: Promise<unknown> | null = null;
  const session = new Session(({ k }) => {
    if (k !== 'opening') return;
    question = session.query('ioObjects', {}).then(() => order.push('question'));
    void session.timeline({ from: 0, to: 1e6, width: 100, lanes: ['0:sql'] });
  });
  await session.open(file, 'a.vfst');
  const { extent } = await session.extents();
  // messages between two threads take time
  for (let turn = 0; turn < 5; turn++) await yieldToMessages();
  await session.timeline({ from: extent[0], to: extent[1], width: 100, lanes: ['0:sql'] });
  order.push('picture');
  await question;
  expect(order).toEqual(['picture', 'question']);
});
