import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { createKeyring } from '#service/limits/keyring.ts';

/** Prints `{loadSeconds, megabytes, lookupUs, heldUpMs}` of a keyring with a million keys, a tenth of them with owners of their own. */
const count = 1_000_000;
const lookups = 200_000;

const keyAt = (index: number): string => `ton_${index.toString(36).padStart(12, '0')}_${'x'.repeat(43)}`;

const folder = mkdtempSync(join(tmpdir(), 'million-keys-'));
const file = join(folder, 'keyring.json');
const out = createWriteStream(file);
out.write('{"keys":[\n');
for (let index = 0; index < count; index++) {
  const key = keyAt(index);
  const sha256 = index < lookups ? createHash('sha256').update(key).digest('hex') : randomBytes(32).toString('hex');
  const owner = index % 10 === 0 ? { owner: `owner-${index}` } : {};
  const row = JSON.stringify({ id: key.slice(4, 16), sha256, plan: 'pro', ...owner });
  if (!out.write(index === 0 ? row : `,\n${row}`)) await once(out, 'drain');
}
out.end(']}');
await once(out, 'finish');

const memory = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const before = memory();
const startedMs = performance.now();
const keyring = createKeyring({ file });
const loadSeconds = (performance.now() - startedMs) / 1000;
const megabytes = (memory() - before) / 1_000_000;

const keys = Array.from({ length: lookups }, (_, index) => keyAt((index * 7919) % lookups));
const look = (): number => keys.reduce((found, key) => found + Number(keyring.find(key, 0) !== undefined), 0);
look();
const cpu = process.cpuUsage();
const found = look();
const used = process.cpuUsage(cpu);
if (found !== lookups) throw new Error(`found ${found} of ${lookups} keys`);

/** The event loop's longest turn while the file, touched, is read again beside the keys in force. */
const touched = new Date();
utimesSync(file, touched, touched);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
await keyring.reload();
delay.disable();
const heldUpMs = delay.max / 1e6;
if (keyring.version !== 1) throw new Error('the keyring was not read again');
rmSync(folder, { recursive: true });
const lookupUs = (used.user + used.system) / lookups;
process.stdout.write(JSON.stringify({ loadSeconds, megabytes, lookupUs, heldUpMs }));
