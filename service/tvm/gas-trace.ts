/** How a run's gas went: what was left after each instruction, and which of them accepted the message. */
export type GasTrace = {
  /** Gas left; from `acceptedAt` on it is what is left of the whole limit, before of the credit. */
  readonly remaining: readonly number[];
  /** Index of the first instruction that took more than the credit; undefined when none did. */
  readonly acceptedAt: number | undefined;
};

const EXECUTE = /^execute (ACCEPT|SETGASLIMIT)$/;
const REMAINING = 'gas remaining: ';

/** Reads the VM's log of verbosity 3: a line for each instruction, then one with the gas that it left. */
export function readGasTrace(vmLog: string): GasTrace {
  const remaining: number[] = [];
  let acceptedAt: number | undefined;
  let accepts = false;
  for (const line of vmLog.split('\n')) {
    if (line.startsWith('execute ')) accepts = EXECUTE.test(line);
    if (!line.startsWith(REMAINING)) continue;
    if (accepts) acceptedAt ??= remaining.length;
    remaining.push(Number(line.slice(REMAINING.length)));
  }
  return { remaining, acceptedAt };
}

/**
 * Gas used when a run with ample gas, as traced, has only `gasMax` once it accepted its message: up to the instruction that
 * passes the bound. Undefined when none does.
 * @param gasLimit of the traced run once it accepted
 */
export function gasAtExhaustion(
  { remaining, acceptedAt }: GasTrace,
  gasLimit: bigint,
  gasMax: bigint,
): bigint | undefined {
  if (acceptedAt === undefined) return undefined;
  return remaining
    .slice(acceptedAt)
    .map((left) => gasLimit - BigInt(left))
    .find((used) => used > gasMax);
}
