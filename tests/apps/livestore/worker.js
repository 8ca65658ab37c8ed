// The worker of the tab that leads: it holds the databases in OPFS for all tabs.
import { makeWorker } from '@livestore/adapter-web/worker';
import { schema } from './schema.js';

makeWorker({ schema });
