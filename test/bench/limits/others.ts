import { Agent, request } from 'node:http';

/**
 * Clients within their limit, in a process of their own: for each message, a number of milliseconds, asks so long at an even pace and tells the latencies. With
 * `any` behind the rate, a refusal or no answer is a latency too; without it either ends the process.
 */
const [url = '', key = '', rate = '0', taken = 'good'] = process.argv.slice(2);

const agent = new Agent({ keepAlive: true });

function latencyMs(): Promise<number> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { 'x-api-key': key } }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        if (answer.statusCode === 200 || taken === 'any') resolve(performance.now() - startedMs);
        else reject(new Error(`one of the others got ${answer.statusCode}`));
      });
    });
    sent.on('error', (error) => {
      if (taken === 'any') resolve(performance.now() - startedMs);
      else reject(error);
    });
    sent.end();
  });
}

/** Whatever the answers do: a request that is late does not hold back the next. */
function turn(turnMs: number): Promise<number[]> {
  const startedMs = performance.now();
  const asked: Promise<number>[] = [];
  const { promise, resolve } = Promise.withResolvers<number[]>();
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedMs;
    for (; asked.length < (Math.min(elapsedMs, turnMs) * Number(rate)) / 1000;) asked.push(latencyMs());
    if (elapsedMs < turnMs) return;
    clearInterval(timer);
    resolve(Promise.all(asked));
  }, 1);
  return promise;
}

process.on('message', (turnMs: number) => void turn(turnMs).then((latencies) => process.send?.(latencies)));
process.once('disconnect', () => process.exit(0));
