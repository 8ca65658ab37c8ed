// The worker of SQLite's own build.
import { serve } from '../common/engine-worker.js';
import { engine } from './engine.js';

serve(engine);
