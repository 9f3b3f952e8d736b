import type { TransactionDescription } from './objects.ts';

/** A code with its name and its meaning. */
export type CodeMeaning = { readonly name: string; readonly meaning: string };

const code = (name: string, meaning: string): CodeMeaning => ({ name, meaning });

/** Exit codes of the virtual machine. */
const machineCodes = new Map<number, CodeMeaning>([
  [0, code('success', 'The contract ran to its end.')],
  [1, code('alternative success', 'The contract ran to its end by the second way to end.')],
  [2, code('stack underflow', 'An instruction wants more values than the stack has.')],
  [3, code('stack overflow', 'The stack has too many values.')],
  [4, code('integer overflow', 'A result does not fit 257 bits, or a division by zero.')],
  [5, code('range check', 'An integer is out of the range that an instruction takes.')],
  [6, code('invalid opcode', 'The code has an instruction that the machine does not know.')],
  [7, code('type check', 'A value on the stack has another type than the instruction wants.')],
  [8, code('cell overflow', 'A cell has no room: at most 1,023 bits and 4 references.')],
  [9, code('cell underflow', 'A slice has fewer bits or references than the contract reads.')],
  [10, code('dictionary error', 'A dictionary has an invalid form.')],
  [11, code('unknown error', 'Often: the contract has no method with this id, or refuses an external message.')],
  [12, code('fatal error', 'The machine came into a state that must not be.')],
  [13, code('out of gas', 'The run needs more gas than its limit.')],
  [14, code('virtualization error', 'The run met a pruned branch of a proof.')],
  [-14, code('out of gas', 'The run needs more gas than its limit.')],
  [-15, code('virtualization error', 'The run met a pruned branch of a proof.')],
]);

/** Codes that many contracts throw by the same convention. A contract can give each of them another meaning. */
const usualCodes = new Map<number, CodeMeaning>([
  [128, code('null reference', 'A value is null where the contract needs one.')],
  [129, code('invalid prefix', 'Data begins with another tag than expected.')],
  [130, code('unknown message', 'The contract does not know this kind of message.')],
  [132, code('access denied', 'The sender may not do this.')],
  [133, code('contract stopped', 'The contract is stopped.')],
  [134, code('invalid argument', 'An argument has no valid value.')],
  [136, code('invalid address', 'An address has no standard form.')],
  [0xffff, code('unknown message', 'The contract does not know this opcode.')],
]);

/** Codes that standard contracts throw, by an interface of the account. */
const interfaceCodes: readonly { readonly interfaces: RegExp; readonly codes: ReadonlyMap<number, CodeMeaning> }[] = [
  {
    interfaces: /^wallet_v(2|3|4)/,
    codes: new Map([
      [33, code('wrong seqno', 'The order has another number than the wallet expects.')],
      [34, code('wrong wallet id', 'The order is for another subwallet, or its signature is wrong.')],
      [35, code('wrong signature', 'The signature is not of the key of the wallet, or the order came too late.')],
      [36, code('expired', 'The order came after its time.')],
    ]),
  },
  {
    interfaces: /^wallet_v5/,
    codes: new Map([
      [132, code('signature not allowed', 'The wallet takes no signed orders now.')],
      [133, code('wrong seqno', 'The order has another number than the wallet expects.')],
      [134, code('wrong wallet id', 'The order is for another wallet or network.')],
      [135, code('wrong signature', 'The signature is not of the key of the wallet.')],
      [136, code('expired', 'The order came after its time.')],
    ]),
  },
  {
    interfaces: /^jetton_wallet/,
    codes: new Map([
      [705, code('not the owner', 'The sender is not the owner of the jetton wallet.')],
      [706, code('too few jettons', 'The balance is smaller than the amount.')],
      [707, code('not from the jetton', 'The sender is neither the master nor a wallet of this jetton.')],
      [709, code('too little TON', 'The message has too little TON for the transfer.')],
      [73, code('not the owner', 'The sender is not the owner of the jetton wallet.')],
      [74, code('not from the jetton', 'The sender is neither the master nor a wallet of this jetton.')],
      [47, code('too few jettons', 'The balance is smaller than the amount.')],
      [48, code('too little gas', 'The message has too little TON for the transfer.')],
    ]),
  },
];

/** Result codes of the action phase. */
const actionCodes = new Map<number, CodeMeaning>([
  [0, code('success', 'All actions were done.')],
  [32, code('invalid list', 'The list of actions is no valid list.')],
  [33, code('too many actions', 'The list has more than 255 actions.')],
  [34, code('invalid action', 'An action has an unknown form.')],
  [35, code('invalid source', 'A message names another source than its sender.')],
  [36, code('invalid destination', 'A message has an address that no account can have.')],
  [37, code('too little TON', 'The balance is smaller than the value and the fees of a message.')],
  [38, code('too little extra currency', 'The balance is smaller than the extra currencies of a message.')],
  [39, code('too large for a cell', 'A message does not fit a cell after its fields are rewritten.')],
  [40, code('cannot be processed', 'The message is too large, or its value does not pay for it.')],
  [41, code('no library', 'A change of libraries names no library.')],
  [42, code('library error', 'A library cannot be changed.')],
  [43, code('too large library', 'A library has too many cells, or its tree is too deep.')],
  [50, code('too large state', 'The state of the account would have too many cells.')],
]);

/** The reasons for which no code ran. */
const skipReasons: Readonly<Record<string, string>> = {
  no_state: 'The account has no code, and the message brings none.',
  bad_state: 'The code that the message brings belongs to another address.',
  no_gas: 'The value of the message buys no gas.',
  suspended: 'The address is suspended by the configuration.',
};

export function skipMeaning(reason: string): string {
  return (Object.hasOwn(skipReasons, reason) ? skipReasons[reason] : undefined) ?? 'No code ran.';
}

/**
 * Meaning of an exit code of a run.
 * @param interfaces of the account: standard contracts have codes of their own
 */
export function exitCodeMeaning(exitCode: number, interfaces: readonly string[] = []): CodeMeaning {
  const known = machineCodes.get(exitCode);
  if (known !== undefined) return known;
  for (const { interfaces: form, codes } of interfaceCodes) {
    const found = codes.get(exitCode);
    if (found !== undefined && interfaces.some((one) => form.test(one))) return found;
  }
  const usual = usualCodes.get(exitCode);
  if (usual !== undefined) {
    return { name: usual.name, meaning: `${usual.meaning} This is a convention: the contract can mean another thing.` };
  }
  return { name: 'error of the contract', meaning: 'The contract itself ends with this code: its source says why.' };
}

/** Meaning of a result code of the action phase. A failed run of actions never comes from the contract itself. */
export function actionCodeMeaning(resultCode: number): CodeMeaning {
  return actionCodes.get(resultCode) ?? { name: 'unknown', meaning: 'The explorer does not know this code.' };
}

/** Result of a transaction in few words. */
export type TransactionOutcome = {
  readonly text: string;
  readonly meaning: string;
  readonly isFailed: boolean;
};

/** The first phase that failed, or success. A message that only brings its value is no failure unless it bounced. */
export function outcomeOfTransaction(
  { compute_ph: compute, action, bounce, aborted }: TransactionDescription,
  interfaces: readonly string[] = [],
): TransactionOutcome {
  if (compute?.skipped === true) {
    const reason = compute.reason ?? '';
    const isFailed = aborted === true && (bounce !== undefined || reason === 'bad_state');
    return { text: `no run: ${reason}`, meaning: skipMeaning(reason), isFailed };
  }
  if (compute?.success === false) {
    const { name, meaning } = exitCodeMeaning(compute.exit_code ?? 0, interfaces);
    return { text: `exit ${compute.exit_code}: ${name}`, meaning, isFailed: true };
  }
  if (action?.success === false) {
    const { name, meaning } = actionCodeMeaning(action.result_code);
    return { text: `action ${action.result_code}: ${name}`, meaning, isFailed: true };
  }
  if (aborted === true)
    return { text: 'aborted', meaning: 'The transaction changed nothing but the balance.', isFailed: true };
  return { text: 'done', meaning: 'All phases ended well.', isFailed: false };
}
