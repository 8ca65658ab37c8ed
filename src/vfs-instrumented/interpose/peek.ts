/**
 * Reads an engine's memory from trampolines, which have a different memory: a word at a time,
 * through a function of another module.
 */
import { NativeInstance, NativeModule, type WasmFunction } from './natives.ts';
import * as w from './wasm-writer.ts';
import { OP } from './wasm-writer.ts';

/**
 * peek(address): a word of the engine's memory, 0 when out of bounds. It is in a tiny separate
 * module, because a trampoline module already has the trace memory, and WebKit has no multi-memory.
 * @throws LinkError for a memory64 engine
 */
export function makePeek(memory: WebAssembly.Memory): WasmFunction {
  const shared =
    typeof SharedArrayBuffer !== 'undefined' && memory.buffer instanceof SharedArrayBuffer;
  // memory.size, in bytes, less 4
  const lastWord = [0x3f, 0, ...w.i32(16), OP.shl, ...w.i32(4), OP.sub];
  const body = w.functionBody(
    [],
    [...w.get(0), ...lastWord, OP.gtU, ...w.choose(w.i32(0), [...w.get(0), 0x28, 0, 0])],
  );
  const module = new NativeModule(
    w.moduleBytes(
      w.section(1, w.vector([w.functionType({ params: 'i', results: 'i' })])),
      w.section(
        2,
        w.vector([w.importMemory('e', 'm', shared ? { initial: 0, maximum: 65536 } : null)]),
      ),
      w.section(3, w.vector([[0]])),
      w.section(7, w.vector([w.exportFunction('p', 0)])),
      w.section(10, w.vector([body])),
    ),
  );
  return new NativeInstance(module, { e: { m: memory } }).exports.p as WasmFunction;
}

/** Like `makePeek`, but null for a memory64 engine. */
export function peekInto(memory: WebAssembly.Memory): WasmFunction | null {
  try {
    return makePeek(memory);
  } catch (error) {
    if (error instanceof WebAssembly.LinkError) return null;
    throw error;
  }
}
