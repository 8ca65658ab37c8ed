// `npm run findings:doc`: writes docs/findings.md from the rules' own words (tools/docs/findings-doc.ts).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTs } from '../dev/load-ts.mjs';

const root = join(import.meta.dirname, '../..');
const { findingsDoc } = await loadTs('findings-doc', 'tools/docs/findings-doc.ts');
writeFileSync(join(root, 'docs', 'findings.md'), findingsDoc(root));
