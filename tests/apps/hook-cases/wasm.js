// Compiles wasm. Its own response has no policy that forbids this.
performance.mark('case');
try {
  new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
  self.postMessage({ wasm: 'compiled', done: true });
} catch (e) {
  self.postMessage({ wasm: e.name, done: true });
}
