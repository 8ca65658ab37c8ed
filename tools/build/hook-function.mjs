/**
 * Rollup plugin for `vfscope/hook`: replaces its one free name with the hook's function, as built
 * for realms that load it themselves.
 */

/** @param {string} script the built hook @returns {string} its function, not called */
export const hookFunction = (script) => script.slice(0, script.lastIndexOf('})(') + 2);

/**
 * Runs after the minifier: the function is text that workers get, so it must stay unchanged.
 * @param {() => string} script reads the built hook
 * @returns {import('rollup').Plugin}
 */
export const insertHook = (script) => ({
  name: 'insert-hook',
  renderChunk: (code) => ({
    code: code.replaceAll('VFSCOPE_HOOK', () => hookFunction(script())),
    map: null,
  }),
});
