import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { tuneBufferPool } from '#service/decode/buffer-pool.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import type { Tvm } from '#service/tvm/tvm.ts';
import { startTvm } from './recorded-world.ts';
import { ENDLESS, ENDLESS_GAS, callOf, smallConfig } from './small-world.ts';

const started: Tvm[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((tvm) => tvm.close()));
});

function start(options: Parameters<typeof startTvm>[0] = {}): ReturnType<typeof startTvm> {
  const one = startTvm(options);
  started.push(one.tvm);
  return one;
}

/** `PUSHNULL`, then `PUSHINT 1; SWAP; 2 TUPLE` `length` times: a list. */
function listCode(length: number): string {
  return `6d81${length.toString(16).padStart(4, '0')}9471016f02e4`;
}

async function countOf(
  register: ReturnType<typeof startTvm>['register'],
  metric: string,
  labels: object,
): Promise<number> {
  const { values } = await register.getSingleMetric(metric)!.get();
  const wanted = JSON.stringify(labels);
  return values.find((one) => JSON.stringify(one.labels) === wanted)?.value ?? 0;
}

describe('a get-method', () => {
  const { tvm, register } = startTvm();
  afterAll(() => tvm.close());

  it('a get-method returns its stack, its exit code and its gas', async () => {
    // DROP, PUSHINT 1, PUSHINT 2: 18 gas each; 5 for the implicit return.
    expect(await tvm.runGetMethod(callOf('307172'))).toEqual({
      exitCode: 0,
      gasUsed: 18n * 3n + 5n,
      stack: [
        { type: 'int', value: 1n },
        { type: 'int', value: 2n },
      ],
      missingLibraries: [],
    });
  });

  it('a result takes no more memory from its thread than its answer and a small page', async () => {
    tuneBufferPool();
    // NEWC, ENDC: a cell.
    const { stack } = await tvm.runGetMethod(callOf('30c8c9'));
    const [cell] = stack;
    if (cell?.type !== 'cell') throw new Error('the answer is no cell');
    expect(cell.table.bytes.buffer.byteLength).toBeLessThan(2048);
  });

  it('a get-method finds its arguments below its id', async () => {
    const stack: StackEntry[] = [{ type: 'int', value: 7n }, { type: 'null' }];
    const { stack: result } = await tvm.runGetMethod(callOf('', { stack, methodId: 85143 }));
    expect(result).toEqual([...stack, { type: 'int', value: 85143n }]);
  });

  it('a get-method of an account without code has exit code -13 and no gas, over the arguments and the id', async () => {
    const result = await tvm.runGetMethod(callOf('', { code: null, stack: [{ type: 'nan' }], methodId: -1 }));
    expect(result).toEqual({
      exitCode: -13,
      gasUsed: 0n,
      stack: [{ type: 'nan' }, { type: 'int', value: -1n }],
      missingLibraries: [],
    });
  });

  it.each([10, 1000, 1_000_000])(
    'a get-method that uses more than %i gas ends with -14 and the gas it used',
    async (gasLimit) => {
      const { exitCode, gasUsed, stack } = await tvm.runGetMethod(callOf(ENDLESS, { gasLimit }));
      expect(exitCode).toBe(-14);
      expect(gasUsed).toBeGreaterThan(BigInt(gasLimit));
      expect(stack).toEqual([{ type: 'int', value: gasUsed }]);
    },
  );

  it('a get-method that throws returns the code it threw', async () => {
    // THROW 42
    expect(await tvm.runGetMethod(callOf('f22a'))).toMatchObject({ exitCode: 42, stack: [{ type: 'int', value: 0n }] });
  });

  it('a get-method may return a list of a thousand elements, like a mainnet election', async () => {
    const { stack } = await tvm.runGetMethod(callOf(listCode(1000)));
    let [, list] = stack;
    let length = 0;
    for (; list?.type === 'tuple'; list = list.items[1]) length++;
    expect([length, list]).toEqual([1000, { type: 'null' }]);
  });

  it('a list deeper than a BoC can be is refused, and the next call runs', async () => {
    await expect(tvm.runGetMethod(callOf(listCode(1500)))).rejects.toMatchObject({ code: 'stack_too_deep' });
    expect((await tvm.runGetMethod(callOf('71'))).exitCode).toBe(0);
  });

  it.each([
    ['code that is no BoC', { code: Buffer.from('00ff', 'hex') }],
    ['data that are no BoC', { data: Buffer.from('00ff', 'hex') }],
    ['a seed of another length', { randSeed: Buffer.alloc(31) }],
    ['an account id of another length', { address: { workchain: 0, id: Buffer.alloc(31) } }],
  ])('a get-method with %s is refused', async (_, rest) => {
    await expect(tvm.runGetMethod(callOf('71', rest))).rejects.toMatchObject({ code: 'tvm_bad_request' });
  });

  it('the log of a run is returned only when requested', async () => {
    expect((await tvm.runGetMethod(callOf('71', { log: true }))).log).toContain('execute PUSHINT 1');
    expect(await tvm.runGetMethod(callOf('71'))).not.toHaveProperty('log');
  });

  it('a returned log has at most 64 Ki characters', async () => {
    expect((await tvm.runGetMethod(callOf(ENDLESS, { log: true }))).log).toHaveLength(64 * 1024);
  });

  it('a get-method is counted by its result', async () => {
    const before = await countOf(register, 'ton_tvm_calls_total', { kind: 'getMethod', result: 'exit' });
    await tvm.runGetMethod(callOf('f22a'));
    expect(await countOf(register, 'ton_tvm_calls_total', { kind: 'getMethod', result: 'exit' })).toBe(before + 1);
  });
});

describe('the configuration that a contract sees', () => {
  const config = smallConfig(300);
  const { tvm, register } = startTvm();
  afterAll(() => tvm.close());

  /** Ways to read parameter 34 or the whole configuration, each leaving a cell on top. */
  const readers = {
    'CONFIGOPTPARAM 34': '8022f833',
    'CONFIGPARAM 34': '8022f83230',
    CONFIGROOT: 'f829',
    CONFIGDICT: 'f83030',
    'GETPARAMLONG 9': 'f88109',
    'PUSH c7, first of it': 'ed476f106f19',
    'PUSHCTRX 7': '77ede06f106f19',
    'GETGLOBVAR 0': '70f8406f19',
  };

  it.each(Object.entries(readers))('a contract reads the whole configuration by %s', async (_, code) => {
    const { stack } = await tvm.runGetMethod(callOf(`30${code}`, { config }));
    const cell = stack.find((entry) => entry.type === 'cell');
    expect(cell?.type === 'cell' && cell.table.size).toBeGreaterThan(299);
  });

  it('the full configuration is read only for contracts that read it', async () => {
    const before = await countOf(register, 'ton_tvm_configs_total', { config: 'full' });
    await tvm.runGetMethod(callOf('71', { config }));
    expect(await countOf(register, 'ton_tvm_configs_total', { config: 'full' })).toBe(before);
    expect(before).toBe(Object.keys(readers).length);
  });

  it('the configuration may change from call to call, beyond the number that threads cache', async () => {
    const configs = Array.from({ length: 10 }, (_, index) => smallConfig(index + 2));
    for (const one of [...configs, ...configs]) {
      const { stack } = await tvm.runGetMethod(callOf(`30${readers.CONFIGROOT}`, { config: one }));
      const [root] = stack;
      expect(root?.type === 'cell' && root.table.hash(root.cell)).toEqual(one.hash);
    }
  });
});

describe('the earlier blocks that a contract sees', () => {
  const { tvm, register } = startTvm();
  afterAll(() => tvm.close());
  const block = {
    workchain: -1,
    shard: -(2n ** 63n),
    seqno: 77,
    rootHash: Buffer.alloc(32, 5),
    fileHash: Buffer.alloc(32, 6),
  };
  const previousBlocks = { last: [block], lastKeyBlock: block, lastHundreds: [block] };

  /** Ways to the seqno of a block: the first of all lists, the first of one list, and the key block. */
  const readers = {
    PREVBLOCKSINFOTUPLE: 'f82d6f106f106f12',
    PREVMCBLOCKS: 'f834006f106f12',
    PREVKEYBLOCK: 'f834016f12',
    PREVMCBLOCKS_100: 'f834026f106f12',
    'GETPARAMLONG 13': 'f8810d6f106f106f12',
    'PUSH c7, first of it': 'ed476f106f1d6f106f106f12',
    'PUSHCTRX 7': '77ede06f106f1d6f106f106f12',
    'GETGLOBVAR 0': '70f8406f1d6f106f106f12',
  };

  it.each(Object.entries(readers))('a contract reads the earlier blocks by %s', async (_, code) => {
    const { stack } = await tvm.runGetMethod(callOf(code, { previousBlocks }));
    expect(stack.at(-1)).toEqual({ type: 'int', value: 77n });
  });

  it('the earlier blocks are read only for contracts that read them', async () => {
    const before = await countOf(register, 'ton_tvm_configs_total', { config: 'full' });
    await tvm.runGetMethod(callOf('71', { previousBlocks }));
    expect(await countOf(register, 'ton_tvm_configs_total', { config: 'full' })).toBe(before);
    expect(before).toBe(Object.keys(readers).length);
  });
});

describe('a runaway contract', () => {
  it('a runaway contract costs its own call, whose thread is ended, and calls of others go on', async () => {
    // Wide enough that no good call of a busy machine takes as long.
    const { tvm, register } = start({ workers: 2, wallTimeMs: 3000 });
    const runaway = tvm
      .runGetMethod(callOf(ENDLESS, { gasLimit: ENDLESS_GAS, caller: 'bad' }))
      .catch((error: unknown) => error);
    const others = await Promise.all(
      Array.from({ length: 20 }, () => tvm.runGetMethod(callOf('71', { caller: 'good' }))),
    );
    expect(others.every(({ exitCode }) => exitCode === 0)).toBe(true);
    expect(await runaway).toMatchObject({ code: 'tvm_timeout', retryable: false, data: { limit: 3000 } });
    expect((await tvm.runGetMethod(callOf('71'))).exitCode).toBe(0);
    expect(await countOf(register, 'ton_tvm_thread_starts_total', { reason: 'timeout' })).toBe(1);
  });

  it('a runaway contract on the only thread delays the next call by at most its wall limit', async () => {
    const { tvm } = start({ workers: 1, wallTimeMs: 60_000 });
    const results = await Promise.allSettled([
      tvm.runGetMethod(callOf(ENDLESS, { gasLimit: ENDLESS_GAS, wallMs: 300 })),
      tvm.runGetMethod(callOf('71')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('a runaway contract ends with the deadline of its caller, and the next call has the thread', async () => {
    const { tvm, register } = start({ workers: 1, wallTimeMs: 600_000 });
    await tvm.runGetMethod(callOf('71'));
    const abort = new AbortController();
    const call = tvm.runGetMethod(callOf(ENDLESS, { gasLimit: ENDLESS_GAS, signal: abort.signal }));
    setTimeout(() => abort.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: 'tvm_aborted' });
    expect((await tvm.runGetMethod(callOf('71'))).exitCode).toBe(0);
    expect(await countOf(register, 'ton_tvm_thread_starts_total', { reason: 'aborted' })).toBe(1);
  });

  it('a runaway contract ends at the wall limit of its own call', async () => {
    const { tvm } = start({ workers: 1, wallTimeMs: 600_000 });
    const call = tvm.runGetMethod(callOf(ENDLESS, { gasLimit: ENDLESS_GAS, wallMs: 100 }));
    await expect(call).rejects.toMatchObject({ code: 'tvm_timeout', data: { limit: 100 } });
  });

  it('runaway contracts of many callers with one payer leave the last thread to others', async () => {
    const { tvm } = start({ workers: 2, wallTimeMs: 600_000 });
    await tvm.runGetMethod(callOf('71', { caller: 'good' }));
    const slow = Array.from({ length: 20 }, (_, at) =>
      tvm
        .runGetMethod(callOf(ENDLESS, { gasLimit: ENDLESS_GAS, caller: `address ${at}`, payer: 'anonymous' }))
        .catch((error: { code: string }) => error.code),
    );
    for (let call = 0; call < 5; call++) {
      expect((await tvm.runGetMethod(callOf('71', { caller: 'good' }))).exitCode).toBe(0);
    }
    await tvm.close();
    expect(new Set(await Promise.all(slow))).toEqual(new Set(['tvm_closed']));
  });

  it('runaway contracts of one caller leave the last thread to others', async () => {
    const { tvm } = start({ workers: 2, wallTimeMs: 600_000 });
    await Promise.all([tvm.runGetMethod(callOf('71')), tvm.runGetMethod(callOf('71', { caller: 'x' }))]);
    const bad = { gasLimit: ENDLESS_GAS, caller: 'bad' };
    const slow = [tvm.runGetMethod(callOf(ENDLESS, bad)).catch((error: unknown) => error)];
    await new Promise((resolve) => void setTimeout(resolve, 200));
    slow.push(tvm.runGetMethod(callOf(ENDLESS, bad)).catch((error: unknown) => error));
    let ended = 0;
    for (const one of slow) void one.then(() => ended++);
    expect((await tvm.runGetMethod(callOf('71', { caller: 'good' }))).exitCode).toBe(0);
    expect(ended).toBe(0);
    await tvm.close();
    expect((await Promise.all(slow)).map((error) => (error as { code: string }).code)).toEqual([
      'tvm_closed',
      'tvm_closed',
    ]);
  });
});

describe('the TVM', () => {
  it('calls beyond the queue are refused', async () => {
    const { tvm } = start({ workers: 1, queueMax: 3 });
    const calls = Array.from({ length: 10 }, () =>
      tvm.runGetMethod(callOf('71')).then(
        () => 'ran',
        (error: { code: string }) => error.code,
      ),
    );
    const results = await Promise.all(calls);
    expect(results.slice(0, 3)).toEqual(['ran', 'ran', 'ran']);
    expect(results.slice(4)).toEqual(Array.from({ length: 6 }, () => 'tvm_queue_full'));
  });

  it('a waiting call whose caller went away is removed', async () => {
    const { tvm } = start({ workers: 1 });
    const abort = new AbortController();
    const call = tvm.runGetMethod(callOf('71', { signal: abort.signal }));
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'tvm_aborted' });
    await expect(tvm.runGetMethod(callOf('71', { signal: abort.signal }))).rejects.toMatchObject({
      code: 'tvm_aborted',
    });
  });

  it('closing rejects waiting calls and later calls', async () => {
    const { tvm } = start({ workers: 1 });
    const calls = [tvm.runGetMethod(callOf(ENDLESS, { gasLimit: ENDLESS_GAS })), tvm.runGetMethod(callOf('71'))];
    const settled = Promise.allSettled(calls);
    await tvm.close();
    await expect(tvm.runGetMethod(callOf('71'))).rejects.toMatchObject({ code: 'tvm_closed' });
    for (const one of await settled) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'tvm_closed' } });
  });

  it('a thread whose memory exceeds the bound is replaced', async () => {
    const { tvm, register } = start({ workers: 1, memoryBytesMax: 1 });
    for (let call = 0; call < 3; call++) expect((await tvm.runGetMethod(callOf('71'))).exitCode).toBe(0);
    expect(await countOf(register, 'ton_tvm_thread_starts_total', { reason: 'memory' })).toBe(3);
  });

  it.each([
    ['traps', "parentPort.postMessage({ kind: 'dead', error: 'trap' })"],
    ['exits', 'process.exit(1)'],
    ['throws', "throw new Error('broken')"],
  ])('only the call under which a thread %s is lost', async (_, act) => {
    const module = [
      "import { parentPort } from 'node:worker_threads';",
      "parentPort.postMessage({ kind: 'ready', program: {} });",
      `parentPort.on('message', () => { ${act} });`,
    ].join('');
    const { tvm, register } = start({
      workers: 1,
      workerUrl: new URL(`data:text/javascript,${encodeURIComponent(module)}`),
    });
    for (let call = 0; call < 4; call++) {
      await expect(tvm.runGetMethod(callOf('71'))).rejects.toMatchObject({ code: 'tvm_crashed', retryable: true });
    }
    expect(await countOf(register, 'ton_tvm_thread_starts_total', { reason: 'crashed' })).toBe(4);
  });

  it('a TVM whose threads cannot start reports it', async () => {
    const { tvm } = start({ workers: 1, workerUrl: new URL('data:text/javascript,throw new Error("broken")') });
    await expect(tvm.runGetMethod(callOf('71'))).rejects.toMatchObject({ code: 'tvm_crashed', retryable: true });
  });
});
