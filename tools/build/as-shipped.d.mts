import type { Plugin } from 'esbuild';

export const asShipped: Plugin;
