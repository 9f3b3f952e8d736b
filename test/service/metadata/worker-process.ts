import { openStore } from '#test/support/store.ts';
import { startWorker } from './worker.ts';

// A worker in a process of its own, to be killed: `node worker-process.ts POSTGRES-URL PORT`.
const [url = '', port = ''] = process.argv.slice(2);
startWorker(openStore({ url }), { port: Number(port) });
