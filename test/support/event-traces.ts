import { Address, beginCell, type Builder, type Cell } from '@ton/core';

import type { EventMessage, ClassifierTrace, EventTransaction } from '#service/actions/engine/classifier-input.ts';
import type { Interfaces, JettonWalletInfo } from '#service/actions/engine/interfaces.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { parseBoc } from '#service/decode/boc.ts';

/** A message and what the account that took it sent on. */
export type Step = {
  readonly to: string;
  readonly body: Cell;
  /** Nanotons; one TON without it. */
  readonly value?: bigint;
  /** State that the message deploys its receiver with. */
  readonly init?: Cell;
  /** The receiver's transaction comes to nothing. */
  readonly aborted?: boolean;
  readonly sends?: readonly Step[];
  /** Bodies of messages to the outside, after what it sends on. */
  readonly logs?: readonly Cell[];
};

/** The account of this number: raw, as actions show it. */
export function accountOf(number: number): string {
  return `0:${number.toString(16).toUpperCase().padStart(64, '0')}`;
}

type Strings<Count extends number, List extends readonly string[] = []> = List['length'] extends Count
  ? List
  : Strings<Count, readonly [...List, string]>;

/** So many accounts, for the names of a test. */
export function accounts<const Count extends number>(count: Count): Strings<Count> {
  return Array.from({ length: count }, (_, index) => accountOf(index + 1)) as unknown as Strings<Count>;
}

/** The beginning of a body: its operation, and a query id. */
export const open = (opcode: number): Builder => beginCell().storeUint(opcode, 32).storeUint(0, 64);

/** A body of an operation without fields. */
export const bareBody = (opcode: number): Cell => open(opcode).endCell();

/** Jettons from nobody, as masters and pools send new ones. */
export const mintedJettons = (amount: bigint): Cell =>
  open(0x178d4519).storeCoins(amount).storeAddress(null).storeAddress(null).storeCoins(0).endCell();

/** An order to a wallet of jettons (`transfer`, TEP-74); a payload brings a notification with it. */
export function transferOrder(order: {
  readonly amount: bigint;
  /** Raw, as all accounts of these traces. */
  readonly to: string;
  /** Who gets what is left over. */
  readonly from: string | null;
  readonly payload?: Cell | null;
}): Cell {
  const { amount, to, from, payload = null } = order;
  return open(0x0f8a7ea5)
    .storeCoins(amount)
    .storeAddress(Address.parse(to))
    .storeAddress(from === null ? null : Address.parse(from))
    .storeBit(false)
    .storeCoins(payload === null ? 0 : 1)
    .storeMaybeRef(payload)
    .endCell();
}

/** Base64 of 32 bytes, of a number. */
function hashOf(number: number): string {
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex').toString('base64');
}

function openCell(cell: Cell): CellSlice {
  const boc = parseBoc(cell.toBoc());
  return new CellSlice(boc, boc.roots[0]!);
}

/** A trace that a message from outside to `wallet` began. @param order body of that message */
export function eventTrace(wallet: string, steps: readonly Step[], order = bareBody(0x7369676e)): ClassifierTrace {
  let lt = 0n;
  let hashes = 0;
  const hash = (): string => hashOf(++hashes);
  const transactions: EventTransaction[] = [];
  const send = (source: string, { to, body, value = 1_000_000_000n, init }: Step): EventMessage => {
    const opened = openCell(body);
    return {
      hash: hash(),
      source,
      destination: to,
      value,
      extraCurrencies: {},
      createdLt: ++lt,
      createdAt: Number(lt),
      opcode: opened.remainingBits < 32 ? null : opened.peekUint(32),
      bounce: true,
      body: opened,
      init: init && openCell(init),
    };
  };
  const take = (
    account: string,
    inMessage: EventMessage,
    { aborted = false, sends = [], logs = [] }: Partial<Step>,
  ): void => {
    const own = ++lt;
    const outMessages = sends.map((step) => send(account, step));
    const toOutside = logs.map((body) => ({ ...send(account, { to: '', body }), destination: null, value: null }));
    transactions.push({
      hash: hash(),
      account,
      lt: own,
      utime: Number(own),
      mcSeqno: Number(own),
      kind: 'ord',
      aborted,
      originalStatus: inMessage.init === undefined ? 'active' : 'uninit',
      endStatus: 'active',
      skippedReason: null,
      exitCode: 0,
      inMessage,
      outMessages: [...outMessages, ...toOutside],
    });
    sends.forEach((step, index) => take(step.to, outMessages[index]!, step));
  };
  const outside: EventMessage = {
    ...send('', { to: wallet, body: order }),
    source: null,
    value: null,
    extraCurrencies: null,
    createdLt: null,
    createdAt: null,
  };
  take(wallet, outside, { sends: steps });
  const [first] = transactions;
  return {
    traceId: first!.hash,
    externalHash: outside.hash,
    externalHashNorm: outside.hash,
    endLt: lt,
    endUtime: Number(lt),
    mcSeqnoEnd: Number(lt),
    transactions: transactions.toSorted((one, other) => Number(one.lt - other.lt)),
  };
}

const nothing = (): undefined => undefined;

/** Nothing is known but these jetton wallets. */
export function knownWallets(wallets: Readonly<Record<string, JettonWalletInfo>>): Interfaces {
  return {
    jettonWallet: (account) => wallets[account],
    nftItem: nothing,
    nftSale: nothing,
    nftAuction: nothing,
    dedustPool: nothing,
    multisigOrder: nothing,
    isNominatorPool: () => false,
    data: nothing,
  };
}

/** A transfer of jettons from one wallet contract to another, which tells its owner; `sends` is what the owner sends on. */
export function jettonTransfer(transfer: {
  readonly wallet: string;
  readonly to: { readonly wallet: string; readonly owner: string };
  readonly from: string;
  readonly amount: bigint;
  /** What the receiver is to be told. */
  readonly payload?: Cell;
  readonly sends?: readonly Step[];
}): Step {
  const { wallet, to, from, amount, payload = null, sends = [] } = transfer;
  const internal = open(0x178d4519)
    .storeCoins(amount)
    .storeAddress(Address.parse(from))
    .storeAddress(Address.parse(from))
    .storeCoins(1)
    .endCell();
  const notify = open(0x7362d09c).storeCoins(amount).storeAddress(Address.parse(from)).storeBit(false).endCell();
  return {
    to: wallet,
    body: transferOrder({ amount, to: to.owner, from, payload }),
    sends: [{ to: to.wallet, body: internal, sends: [{ to: to.owner, body: notify, sends }] }],
  };
}
