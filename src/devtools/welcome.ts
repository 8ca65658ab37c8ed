/** The welcome page: the script only finds out which keys open DevTools here. */
import { devtoolsKeys } from './devtools-keys.ts';

document.querySelector('#keys')!.replaceChildren(...devtoolsKeys());
document.documentElement.dataset['ready'] = 'true';
