/** Ends a browser as a crash does: all of its processes at once. */
import { execFileSync } from 'node:child_process';
import type { DrivenBrowser } from '../../src/drive/browser.ts';

/** This process and its descendants. */
function treeOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')) {
    const [child, parent] = line.trim().split(/\s+/).map(Number) as [number, number];
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const tree = [pid];
  for (const one of tree) tree.push(...(children.get(one) ?? []));
  return tree;
}

/** Resolves once it has ended. */
export async function killBrowser({ browser }: Pick<DrivenBrowser, 'browser'>): Promise<void> {
  const gone = new Promise((done) => browser.once('disconnected', done));
  for (const pid of treeOf(browser.process()!.pid!)) process.kill(pid, 'SIGKILL');
  await gone;
}
