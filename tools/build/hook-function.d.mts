import type { Plugin } from 'rollup';

export declare function hookFunction(script: string): string;
export declare function insertHook(script: () => string): Plugin;
