// The leading tab's worker, which has the databases in OPFS for all tabs.
import { makeWorker } from '@livestore/adapter-web/worker';
import { schema } from './schema.js';

makeWorker({ schema });
