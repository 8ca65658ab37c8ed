/**
 * The model that the viewer's components show and act on. The code that mounts the App provides it
 * in the context.
 */
import { getContext } from 'svelte';
import type { ViewerModel } from './model.ts';

const KEY = Symbol('viewer model');

export const viewerContext = (model: ViewerModel): Map<symbol, unknown> => new Map([[KEY, model]]);
/** Call it in a component's script. */
export const viewerModel = (): ViewerModel => getContext<ViewerModel>(KEY);
