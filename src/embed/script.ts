/**
 * `vfscope/hook` as a classic script without exports: for script elements, importScripts, and init
 * scripts of test runners.
 */
import './index.ts';
