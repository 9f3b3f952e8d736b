import { Agent, request } from 'node:http';

/** A client far over its limit, in a process of its own: asks `URL` with `KEY` at `RATE` requests a second while it is told to. */
const [url = '', key = '', rate = '0'] = process.argv.slice(2);

const tickMs = 4;
const perTick = Math.round((Number(rate) * tickMs) / 1000);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

const state = { on: false };
let refused = 0;

function ask(): void {
  const sent = request(url, { agent, headers: { 'x-api-key': key } }, (answer) => {
    if (answer.statusCode === 429) refused++;
    answer.resume();
  });
  sent.on('error', () => undefined);
  sent.end();
}

setInterval(() => {
  for (let asked = 0; state.on && asked < perTick; asked++) ask();
}, tickMs);

process.on('message', (message: 'on' | 'off') => {
  state.on = message === 'on';
  if (!state.on) process.send?.(refused);
  refused = 0;
});
