/** Rollup plugin of `vfscope/hook`: its one free name becomes the hook's own function, as built for realms that bring it themselves. */

/** @param {string} script the built hook @returns {string} its function, not called */
export const hookFunction = (script) => script.slice(0, script.lastIndexOf('})(') + 2);

/**
 * Behind the minifier: the function is text that workers get, and stays as it is.
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
