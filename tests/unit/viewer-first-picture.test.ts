// Questions that wait for a file wait for its first picture, too: but not for one that nobody asks for.
import { afterEach, expect, test, vi } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { FirstPicture } from '../../src/viewer/worker/first-picture.ts';
import { rest } from '../../src/viewer/worker/rest.ts';
import { Session } from '../../src/viewer/worker/session.ts';
import { syntheticStore } from '../traces/synthetic.ts';

afterEach(() => void vi.useRealTimers());

test('it is over once a picture is answered, or nobody has asked for one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const picture = new FirstPicture();
  let over = 0;
  const count = (): void => void over++;
  const asked = picture.next().then(count);
  await vi.advanceTimersByTimeAsync(50);
  expect([over, picture.wake]).toEqual([0, 0]);
  picture.answered();
  await asked;
  expect(over).toBe(1);
  expect(picture.wake).toBeGreaterThan(0); // long work holds back for what comes with it
  await vi.advanceTimersByTimeAsync(1000);
  expect(picture.wake).toBe(0);
  picture.answered(); // pictures later on are nobody's first
  expect(picture.wake).toBe(0);
  const never = picture.next().then(count);
  await vi.advanceTimersByTimeAsync(1000);
  await never;
  expect(over).toBe(2);
});

test('a question asked while a file is read is answered after the picture of all its events', async () => {
  const file = await saveTrace(syntheticStore({ events: 150_000, clockStepUs: 5 }));
  const order: string[] = [];
  let question: Promise<unknown> | null = null;
  const session = new Session(({ k }) => {
    if (k === 'opening') question = session.ask('ioObjects', {}).then(() => order.push('question'));
  });
  await session.open(file, 'a.vfst');
  const { extent } = await session.extents();
  for (let turn = 0; turn < 5; turn++) await rest(); // messages between two threads take their time
  await session.timeline({ from: extent[0], to: extent[1], width: 100, lanes: ['0:sql'] });
  order.push('picture');
  await question;
  expect(order).toEqual(['picture', 'question']);
});
