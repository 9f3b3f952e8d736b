/** Gas of a run: the gas left after each instruction, and the instruction that accepted the message. */
export type GasTrace = {
  /** Gas left after each instruction. From `acceptedAt` on it is of the whole limit, before that of the credit. */
  readonly remaining: readonly number[];
  /** Index of the first instruction that took more than the credit; undefined when no instruction did. */
  readonly acceptedAt: number | undefined;
};

const EXECUTE = /^execute (ACCEPT|SETGASLIMIT)$/;
const REMAINING = 'gas remaining: ';

/** Reads the VM's log of verbosity 3: a line for each instruction, then a line with the gas left. */
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
 * Returns the gas used if the traced run had only `gasMax` after it accepted its message. The run ends at the instruction that passes the bound.
 * Undefined when no instruction does.
 * @param gasLimit of the traced run after it accepted
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
