/** Lets a part without the model show a toast. The App provides the function in the context. */
import { getContext, setContext } from 'svelte';

type ShowToast = (kind: 'error' | 'info', text: string) => void;
const KEY = Symbol('toast');

export const provideToasts = (show: ShowToast): ShowToast => setContext(KEY, show);
/** Call it in a component's script, below the App. */
export const useToasts = (): ShowToast => getContext<ShowToast>(KEY);
