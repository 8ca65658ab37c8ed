// How much of a worker's script belongs to vfscope, so that the app's lines are numbered correctly.
import { expect, test, vi } from 'vitest';

test('a script from a Blob begins after the hook and what it carries', async () => {
  const worker = {
    ...({ role: 'worker', base: '', id: '', name: '', parent: null } as const),
    scripts: {
      messages: Object.assign(() => {}, { toString: () => 'function messages() {\n\n}' }),
    },
  };
  vi.stubGlobal(
    'vfscopeHook',
    Object.assign(() => {}, { toString: () => 'function hook() {\n}' }),
  );
  vi.stubGlobal('vfscopeEnvironment', worker);
  vi.stubGlobal('VFSCOPE_WORKERS_FILTERED', false);
  vi.stubGlobal('VFSCOPE_NATIVES_HOOKED', false);
  const { hookExtent, hookText, workerHookSource } = await import('../../src/hooks/source.ts');
  const lines = workerHookSource(worker, hookText(worker.scripts)).join('').split('\n').length;
  expect(lines).toBe(4);
  expect(hookExtent()).toEqual({ lines, columns: Infinity, shift: lines });
});
