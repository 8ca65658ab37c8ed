/** The code around the hook's bundle: one function, which is also the text that workers get. */

/**
 * The hook stores ports and undo steps in collections with own methods, so that methods that the
 * app has replaced aren't called.
 */
const OWN_COLLECTIONS = `const [Map, Set, WeakMap, WeakSet] = ['Map', 'Set', 'WeakMap', 'WeakSet'].map((name) => {
  const { constructor: Native, ...methods } = Object.getOwnPropertyDescriptors(globalThis[name].prototype);
  const Own = class extends Native.value {};
  Object.defineProperties(Own.prototype, methods);
  return Own;
});`;

/** Options of Rollup's output. */
export const HOOK_SCRIPT = {
  format: 'iife',
  strict: true,
  banner: '(function vfscopeHook(vfscopeEnvironment) {',
  intro: OWN_COLLECTIONS,
  footer: "})({ role: 'page' });",
};

/**
 * The same for a script that the hook includes: it is stored where the hook looks for it. @param
 * name `messages` or `instructions`
 */
export const carriedScript = (name) => ({
  ...HOOK_SCRIPT,
  name: 'run',
  banner: `{ const o = (globalThis[Symbol.for('vfscope.capture')] ??= {}); o.${name} = true; (o.scripts ??= {}).${name} = function vfscopeCarried(...given) {`,
  footer: 'return run(...given);}; }',
});
