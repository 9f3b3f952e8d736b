import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A probe as a container's spec has it; absent fields have Kubernetes' defaults. */
export type Probe = {
  readonly httpGet?: { readonly path?: string; readonly port: number | string; readonly scheme?: string };
  readonly tcpSocket?: { readonly port: number | string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
};

/** Where a probe asks. */
export type ProbeTarget = { readonly host: string; readonly portOf: (port: number | string) => number };

/**
 * Probes until the signal. `onResult` is called with true and false when the threshold for it is reached, every time anew
 * as long as it stays so.
 */
export async function runProbe(
  probe: Probe,
  target: ProbeTarget,
  onResult: (ok: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  let good = 0;
  let bad = 0;
  await pause(initialDelaySeconds * 1000, signal);
  while (!signal.aborted) {
    const ok = await probeOnce(probe, target);
    if (signal.aborted) return;
    good = ok ? good + 1 : 0;
    bad = ok ? 0 : bad + 1;
    if (good >= successThreshold) onResult(true);
    if (bad >= failureThreshold) onResult(false);
    await pause(periodSeconds * 1000, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}

function probeOnce(probe: Probe, { host, portOf }: ProbeTarget): Promise<boolean> {
  const timeout = (probe.timeoutSeconds ?? 1) * 1000;
  const { httpGet, tcpSocket } = probe;
  return new Promise((done) => {
    if (httpGet !== undefined) {
      const get = httpGet.scheme === 'HTTPS' ? getHttps : getHttp;
      const options = { host, port: portOf(httpGet.port), path: httpGet.path ?? '/', timeout, agent: false };
      const sent = get({ ...options, rejectUnauthorized: false }, (response) => {
        response.resume();
        const { statusCode = 0 } = response;
        done(statusCode >= 200 && statusCode < 400);
      });
      sent.on('timeout', () => sent.destroy());
      sent.on('error', () => done(false));
      sent.on('close', () => done(false));
    } else if (tcpSocket !== undefined) {
      const socket = connect(portOf(tcpSocket.port), host);
      socket.setTimeout(timeout, () => socket.destroy());
      socket.on('connect', () => {
        done(true);
        socket.destroy();
      });
      socket.on('error', () => done(false));
      socket.on('close', () => done(false));
    } else done(true);
  });
}
