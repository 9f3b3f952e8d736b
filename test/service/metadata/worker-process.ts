import { openStore } from '#test/support/store.ts';
import { startWorker } from './worker.ts';

// Worker in a process of its own, which tests kill: `node worker-process.ts POSTGRES-URL PORT`.
const [url = '', port = ''] = process.argv.slice(2);
startWorker(openStore({ url }), { port: Number(port) });
