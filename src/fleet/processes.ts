/**
 * Adds inputs in several processes. Each requests a few at a time, so all finish at about the same
 * time.
 */
import { fork } from 'node:child_process';
import { wrongUse } from '../terminal/failure.ts';
import { inputAdder, type Added, type Adding } from './add.ts';

/** Set for a process that gets its inputs from its parent. */
const PART = 'VFSCOPE_FLEET_PART';
/** Inputs that a process requests at once. */
const FEW = 4;

/** Whether another process of this command distributes the inputs. */
export const isTold = (): boolean => process.env[PART] === '1' && process.send !== undefined;

/** @throws CommandFailure where one of them fails */
export async function inProcesses(count: number, adding: Adding): Promise<Added> {
  const sums: Added = { added: 0, known: 0, leftOut: 0 };
  const { all, out } = adding;
  let next = 0;
  const ends = Array.from({ length: count }, () => {
    const child = fork(process.argv[1]!, ['fleet', 'add', out, '--out', out], {
      env: { ...process.env, [PART]: '1' },
    });
    let isDone = false;
    const tell = (): void => {
      const paths = all.slice(next, next + FEW);
      next += paths.length;
      if (paths.length) child.send(paths);
      else {
        isDone = true;
        child.disconnect();
      }
    };
    child.on('message', (said) => {
      const told = said as Added;
      for (const key of ['added', 'known', 'leftOut'] as const) sums[key] += told[key];
      tell();
    });
    child.send(adding);
    tell();
    return new Promise<boolean>((resolve) => {
      // a process that failed has printed why to stderr
      child.on('disconnect', () => resolve(isDone));
    });
  });
  if ((await Promise.all(ends)).includes(false))
    throw wrongUse(
      'One of its processes ended early. The data set has what it added. Run the command again for the rest.',
    );
  return sums;
}

/**
 * Adds the inputs that the parent process hands out, until there are no more.
 * @throws CommandFailure where the data set can't be written
 */
export function addAsTold(complain: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let add: ReturnType<typeof inputAdder> | null = null;
    process.on('disconnect', resolve);
    process.on('message', (told: Adding | string[]) => {
      if (!Array.isArray(told)) add = inputAdder(told, complain);
      else
        add!(told)
          .then((sums) => process.connected && process.send!(sums))
          .catch((e: unknown) => {
            reject(e as Error);
            process.disconnect(); // or this process would wait for more inputs
          });
    });
  });
}
