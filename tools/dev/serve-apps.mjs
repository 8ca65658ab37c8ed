// Serves the demo and the engine apps to a browser on this machine: npm run apps [-- port]
import { createServer } from '../../tests/server/server.mjs';

const port = Number(process.argv[2] ?? 0);
if (!Number.isInteger(port) || port < 0 || port > 65535) {
  console.error(
    `expected a port from 0 to 65535, got "${process.argv[2]}"\nuse: npm run apps [-- port]`,
  );
  process.exit(2);
}
const server = await createServer({ port });
console.log(server.url);
