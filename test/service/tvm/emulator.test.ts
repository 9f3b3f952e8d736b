import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { getHeapSpaceStatistics } from 'node:v8';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { compileEmulator, createEmulator } from '#service/tvm/emulator.ts';
import { gasAtExhaustion, readGasTrace } from '#service/tvm/gas-trace.ts';
import { findStackRestore } from '#service/tvm/restore-stack-export.ts';
import { projectRoot } from '#test/support/service-flags.ts';
import { startTvm } from './recorded-world.ts';
import { callOf } from './small-world.ts';

/** Bytes of large objects in the heap of this thread, such as a text of a megabyte. Its old objects are seldom collected. */
function largeBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name.endsWith('large_object_space'))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

describe('the emulator', () => {
  it('the emulator has a stack of its own, set by the only export that sets one', async () => {
    const require = createRequire(import.meta.url);
    const file = require('@ton/sandbox/dist/executor/emulator-emscripten.wasm.js') as {
      EmulatorEmscriptenWasm: string;
    };
    const program = await compileEmulator();
    expect(findStackRestore(Buffer.from(file.EmulatorEmscriptenWasm, 'base64'))).toBe(program.stackRestore);
    const emulator = await createEmulator(program);
    expect(emulator.memoryBytes()).toBeGreaterThan(8 * 1024 * 1024);
  });

  it('compiling the emulator leaves no text of it in the heap of its thread', async () => {
    const before = largeBytes();
    await compileEmulator();
    expect((largeBytes() - before) / 2 ** 20).toBeLessThan(4);
  });

  it('a module without such an export does not start', () => {
    // The smallest module there is: magic and version.
    expect(findStackRestore(Buffer.from('0061736d01000000', 'hex'))).toBeUndefined();
    // A function without parameters, `nop`, exported as "f": types, functions, exports, code.
    const sections = ['010401600000', '03020100', '07050101660000', '0a05010300010b'];
    const module = ['0061736d01000000', ...sections].join('');
    expect(findStackRestore(Buffer.from(module, 'hex'))).toBeUndefined();
  });

  it('the emulator runs in a thread whose module is bundled and minified', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tvm-'));
    const outfile = join(folder, 'worker.mjs');
    // The file of the emulator is beside the bundle, as in the image.
    await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
    const banner = [
      "import { createRequire as __createRequire } from 'node:module';",
      'const require = __createRequire(import.meta.url);',
      'const __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join('\n');
    try {
      await build({
        entryPoints: [fileURLToPath(new URL(import.meta.resolve('#service/tvm/worker.ts')))],
        bundle: true,
        minify: true,
        platform: 'node',
        format: 'esm',
        banner: { js: banner },
        outfile,
        logLevel: 'error',
      });
      const { tvm } = startTvm({ workerUrl: pathToFileURL(outfile) });
      const { stack } = await tvm.runGetMethod(callOf('71'));
      await tvm.close();
      expect(stack.at(-1)).toEqual({ type: 'int', value: 1n });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a trace of gas', () => {
  const log = [
    'execute SETCP 0',
    'gas remaining: 9974',
    'execute ACCEPT',
    'gas remaining: 999948',
    'execute PUSHINT 1',
    'gas remaining: 999930',
    'execute implicit RET',
    'gas remaining: 999925',
  ].join('\n');

  it('a trace of gas reports the gas left after each instruction, and the instruction that accepted the message', () => {
    expect(readGasTrace(log)).toEqual({ remaining: [9974, 999_948, 999_930, 999_925], acceptedAt: 1 });
    expect(readGasTrace('execute NOP\ngas remaining: 5')).toEqual({ remaining: [5], acceptedAt: undefined });
  });

  it.each([
    [0n, 52n],
    [52n, 70n],
    [69n, 70n],
    [70n, 75n],
    [75n, undefined],
  ])('a run with %i affordable gas ends at %s', (gasMax, used) => {
    expect(gasAtExhaustion(readGasTrace(log), 1_000_000n, gasMax)).toBe(used);
  });

  it('the trace of a run that accepted nothing has no end', () => {
    expect(gasAtExhaustion({ remaining: [1, 0], acceptedAt: undefined }, 10n, 0n)).toBeUndefined();
  });
});
