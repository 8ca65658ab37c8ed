// Runs in the app's first script: replaces the functions that lead to a recorder's ports, timers,
// and listeners. `calls` names those that were called by a script outside this folder and the test.
function patchPlatform() {
  const calls = [];
  Object.assign(globalThis, { calls });
  const { apply, construct } = Reflect;
  const note = (name) => {
    const [, , , caller] = new Error().stack.split('\n');
    if (!/\/hook-cases\/|stand-in\.js|pptr:/.test(caller))
      calls[calls.length] = `${name} ${caller}`;
  };
  const replace = (owner, name, part) => {
    const before = owner && Object.getOwnPropertyDescriptor(owner, name);
    if (!before) return;
    const native = before[part];
    const ours = function (...args) {
      note(name);
      return apply(native, this, args);
    };
    Object.defineProperty(owner, name, { ...before, [part]: ours });
  };
  for (const name of ['call', 'apply', 'bind']) replace(Function.prototype, name, 'value');
  for (const name of ['apply', 'construct']) replace(Reflect, name, 'value');
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'])
    replace(EventTarget.prototype, name, 'value');
  for (const name of ['start', 'close', 'postMessage'])
    replace(MessagePort.prototype, name, 'value');
  for (const name of ['close', 'postMessage']) replace(BroadcastChannel.prototype, name, 'value');
  for (const name of ['onmessage']) replace(MessagePort.prototype, name, 'set');
  for (const name of ['get', 'set', 'has', 'delete', 'forEach'])
    replace(Map.prototype, name, 'value');
  for (const name of ['add', 'has', 'delete', 'forEach']) replace(Set.prototype, name, 'value');
  for (const name of ['get', 'set', 'has', 'delete']) replace(WeakMap.prototype, name, 'value');
  for (const name of ['port1', 'port2']) replace(MessageChannel.prototype, name, 'get');
  for (const name of ['data', 'ports']) replace(MessageEvent.prototype, name, 'get');
  for (const name of ['setTimeout', 'setInterval', 'clearTimeout', 'queueMicrotask'])
    replace(globalThis, name, 'value');
  replace(Crypto.prototype, 'getRandomValues', 'value');
  for (const name of [
    'Promise',
    'EventTarget',
    'MessageChannel',
    'BroadcastChannel',
    'Map',
    'Set',
    'URL',
  ]) {
    const native = globalThis[name];
    globalThis[name] = new Proxy(native, {
      construct(target, args, as) {
        note(name);
        return construct(target, args, as);
      },
    });
  }
}
