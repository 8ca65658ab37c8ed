// wa-sqlite finds its .wasm beside its own file, which bundling ahead would move.
export default {
  optimizeDeps: { exclude: ['@journeyapps/wa-sqlite'] },
  worker: { format: 'es' },
};
