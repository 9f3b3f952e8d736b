import { badRequest } from './errors.ts';
import { encodeStack } from './stack-writer.ts';
import type { MethodArguments, MethodSubject, TvmWorld } from './tvm.ts';

// Inputs of the emulator's functions as JSON, besides configurations and bags of cells.

/** BoC of an empty cell. */
export const EMPTY_CELL = Buffer.from('b5ee9c724101010100020000004cacb9cd', 'hex');

const EMPTY_STACK = encodeStack([]).toString('base64');

/** Code and data as base64, cached as long as their buffers live, because the same contracts run again and again. */
const base64Texts = new WeakMap<Buffer, string>();

/** Returns base64 of `VmStack`. Throws TvmError like `encodeStack`. */
export function writeStack({ stack, written }: Pick<MethodArguments, 'stack' | 'written'>): string {
  return stack.length === 0 ? EMPTY_STACK : (written ?? encodeStack(stack)).toString('base64');
}

/** Returns the inputs of a get-method without its id. Throws TvmError `tvm_bad_request`. */
export function getMethodParams(request: MethodSubject, code: Buffer, gasLimit: number): object {
  const { address } = request;
  if (address.id.length !== 32) throw badRequest('an account id has 32 bytes');
  const extra = writeCurrencies(request.extraCurrencies ?? []);
  return {
    code: writeBase64(code),
    data: writeBase64(request.data ?? EMPTY_CELL),
    verbosity: 0,
    address: `${address.workchain}:${address.id.toString('hex')}`,
    unixtime: request.utime,
    balance: request.balance.toString(),
    gas_limit: String(request.gasLimit ?? gasLimit),
    ...(extra === undefined ? {} : { extra_currencies: extra }),
  };
}

/**
 * Writes extra currencies in the emulator's form: unsigned ids, no amount of 0. The emulator joins `id=amount` of the fields without a space, then
 * splits at spaces. All currencies are therefore in one field.
 */
function writeCurrencies(
  currencies: NonNullable<MethodSubject['extraCurrencies']>,
): Record<string, string> | undefined {
  const [first, ...rest] = currencies.filter(({ amount }) => amount > 0n);
  if (first === undefined) return undefined;
  const others = rest.map(({ id, amount }) => ` ${id >>> 0}=${amount}`).join('');
  return { [first.id >>> 0]: `${first.amount}${others}` };
}

/** Throws TvmError `tvm_bad_request`. */
export function seedParams({ randSeed }: Pick<TvmWorld, 'randSeed'>): object {
  if (randSeed.length !== 32) throw badRequest('the random seed has 32 bytes');
  return { rand_seed: randSeed.toString('hex'), debug_enabled: false };
}

function writeBase64(bytes: Buffer): string {
  const known = base64Texts.get(bytes);
  if (known !== undefined) return known;
  const text = bytes.toString('base64');
  base64Texts.set(bytes, text);
  return text;
}
