// The app records itself while it is developed: from the first line of its page and its worker. A build has nothing of it.
import vfscope from 'vfscope/vite';
import app from '../app/vite.config.js';

export default { ...app, root: '../app', plugins: [vfscope({ out: '../vite/notes.vfst' })] };
