/**
 * The hook with faults: every `EVERY`th call of the hooks' functions throws, alternately before and
 * after its work. hooks-faults.test.ts bundles it instead of the hook. The app's behavior must not
 * change.
 */
import { SqlTexts } from '../../src/engines/sql-texts.ts';
import { CounterReader } from '../../src/engines/counters.ts';
import { DefinitionQueue } from '../../src/record/definition-queue.ts';
import { PromiseWatch } from '../../src/record/promise-watch.ts';
import { OpfsPaths } from '../../src/probes/opfs-paths.ts';
import { ProbeContext } from '../../src/probes/context.ts';
import { WalHeaders } from '../../src/probes/wal-headers.ts';
import { Recorder } from '../../src/record/recorder.ts';
import { FileNames } from '../../src/vfs-instrumented/interpose/file-names.ts';
import { EngineMemory } from '../../src/vfs-instrumented/interpose/io-methods.ts';
import { OpenFiles } from '../../src/vfs-instrumented/interpose/open-files.ts';

const EVERY = 7;

/** Method names, including private ones, because `private` doesn't exist at run time. */
function inject(target: { prototype: object; name: string }, ...names: string[]): void {
  const methods = target.prototype as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const genuine = methods[name];
    if (typeof genuine !== 'function')
      throw new TypeError(`there is no method ${name} to make faulty`);
    let calls = 0;
    methods[name] = function (this: unknown, ...args: unknown[]): unknown {
      const due = ++calls % EVERY === 0;
      const late = due && (calls / EVERY) % 2 === 0;
      if (due && !late) throw new Error(`injected before ${name}`);
      const result = Reflect.apply(genuine, this, args);
      if (late) throw new Error(`injected after ${name}`);
      return result;
    };
  }
}

inject(Recorder, 'write', 'finish', 'define', 'nextId');
inject(DefinitionQueue, 'add');
inject(ProbeContext, 'id', 'textId');
inject(OpfsPaths, 'of', 'idOf');
inject(PromiseWatch, 'watch');
inject(WalHeaders, 'look');
inject(SqlTexts, 'statementAt', 'scriptAt');
inject(CounterReader, 'read');
inject(EngineMemory, 'cString', 'word');
inject(FileNames, 'opened', 'named', 'headersOf');
inject(OpenFiles, 'insert', 'remove');
