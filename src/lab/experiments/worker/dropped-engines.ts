/**
 * Builds of SQLite that the user opens as wasm files on the Lab's page. A file isn't trusted: it is
 * checked before it runs, it runs in the Lab's worker, which is terminated if it hangs, and it can
 * only reach its imports.
 */
import type { Build, BuildSource } from '../engine/builds.ts';
import {
  compiledWasm,
  MOST_WASM_BYTES,
  plainBuild,
  sourceOfFile,
  tooLarge,
} from '../engine/plain-build.ts';
import type { WasmLoader } from '../engine/open-engine.ts';
import type { EngineFile } from '../model/types.ts';

/** What an extension can't do, and the alternative. */
const BY_COMMAND =
  "An extension can't run the JavaScript that would provide them. Put it beside the file, and run npx vfscope lab run --engine FILE.wasm.";

export class DroppedEngines {
  private readonly byName = new Map<string, Build>();
  private readonly bytes = new Map<string, Uint8Array<ArrayBuffer>>();

  /** Accepted builds, by name. Requests for others go to `others`. */
  readonly buildOf =
    (others: BuildSource): BuildSource =>
    (config) => {
      const found = this.byName.get(config.engine);
      if (!found) return others(config);
      if (config.build !== 'sync')
        throw new Error(`${config.engine} has no ${config.build} build.`);
      return found;
    };
  readonly wasm =
    (others: WasmLoader): WasmLoader =>
    (path) => {
      const found = this.bytes.get(path);
      return found ? Promise.resolve(found) : others(path);
    };

  /** @throws Error with a message for the user where it can't run */
  async take({ name, file }: EngineFile): Promise<void> {
    if (file.size > MOST_WASM_BYTES) throw new Error(`${tooLarge(file.size, name)}.`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const module = await compiledWasm(bytes, name).catch(inFull);
    const source = await sourceOfFile(bytes, name);
    const wasm = `dropped ${source.version}`;
    try {
      this.byName.set(name, plainBuild([bytes, module], wasm, source, name));
    } catch (e) {
      return inFull(e);
    }
    this.bytes.set(wasm, bytes);
  }
}

/** As a complete message. */
function inFull(e: unknown): never {
  const { message } = e as Error;
  throw new Error(`${message}.${/ imports /.test(message) ? ` ${BY_COMMAND}` : ''}`, { cause: e });
}
