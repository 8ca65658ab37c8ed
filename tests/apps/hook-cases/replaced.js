// An app that replaces the functions that lead to ports and listeners. `calls` counts their calls.
const calls = { __proto__: null };
Object.assign(window, { calls });
const { apply } = Reflect;
const replace = (owner, names, part = 'value') => {
  for (const name of names) {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    const native = before[part];
    const ours = function (...args) {
      calls[name] = (calls[name] ?? 0) + 1;
      return apply(native, this, args);
    };
    Object.defineProperty(owner, name, { ...before, [part]: ours });
  }
};
replace(EventTarget.prototype, ['addEventListener', 'removeEventListener', 'dispatchEvent']);
replace(MessagePort.prototype, ['start', 'close', 'postMessage']);
replace(Map.prototype, ['get', 'set', 'has', 'delete', 'forEach']);
replace(Set.prototype, ['add', 'has', 'delete', 'forEach']);
replace(WeakMap.prototype, ['get', 'set', 'has', 'delete']);
replace(MessageChannel.prototype, ['port1', 'port2'], 'get');
replace(Reflect, ['apply', 'construct']);
replace(Function.prototype, ['call', 'apply', 'bind']);

async function storeAndMark() {
  const settled = (request) => new Promise((done) => (request.onsuccess = () => done(request)));
  const opening = indexedDB.open('replaced');
  opening.onupgradeneeded = () => opening.result.createObjectStore('s');
  await settled(opening);
  const store = opening.result.transaction('s', 'readwrite').objectStore('s');
  await settled(store.put({ a: 1 }, ['k', 1]));
  localStorage.setItem('a', 'b');
  for (let i = 0; i < 100; i++) performance.mark('replaced');
  await navigator.locks.request('a', () => void performance.mark('done'));
}
