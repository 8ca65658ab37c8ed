// Makes an app's random numbers and the date the same in each run: the server puts this before each
// of its scripts if a test compares what two runs stored. The date doesn't advance, unless the app
// waits for it.
(function fixChance(moves) {
  if (globalThis.isChanceFixed) return;
  Object.defineProperty(globalThis, 'isChanceFixed', { value: true });
  /** A thread of each kind has its own sequence. */
  let state = 0x9e3779b9;
  for (const letter of `${globalThis.constructor.name} ${globalThis.name ?? ''}`)
    state = Math.imul(state ^ letter.charCodeAt(0), 0x85ebca6b);
  /** mulberry32. @returns 32 bits */
  const draw = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  };
  Math.random = () => draw() / 2 ** 32;
  Crypto.prototype.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = draw();
    return array;
  };
  Crypto.prototype.randomUUID = () => {
    const digits = Array.from({ length: 4 }, () => draw().toString(16).padStart(8, '0')).join('');
    return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  };
  const NOW = Date.UTC(2026, 0, 15, 12);
  const now = () => (moves ? NOW + performance.now() : NOW);
  globalThis.Date = new Proxy(Date, {
    construct: (target, given, made) =>
      Reflect.construct(target, given.length ? given : [now()], made),
    apply: (target) => String(new target(now())),
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  });
  // for workers whose script the app has as text
  globalThis.Blob = new Proxy(Blob, {
    construct(target, [parts = [], options = {}], made) {
      const script = /javascript/.test(options.type ?? '');
      const given = script ? [`(${String(fixChance)})(${moves});`, ...parts] : parts;
      return Reflect.construct(target, [given, options], made);
    },
  });
})(globalThis.dateMoves === true);
