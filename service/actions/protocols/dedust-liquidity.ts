import { callOf, tonTransferType } from '../engine/basic-blocks.ts';
import {
  breadthFirst,
  firstNode,
  joinFragments,
  type TraceFragment,
  type NewFragment,
} from '../engine/trace-fragment.ts';
import { bit, body, coins, fields, inRef, maybeAddress, payload, peek, ref, uint32, uint64 } from '../engine/body.ts';
import { dedustAsset, payoutOpcode } from './dedust.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import {
  innerCall,
  internalTransferBody,
  internalTransferOpcode,
  notifyOpcode,
  transferOpcode,
} from '../operations/jettons.ts';
import { depositData } from '../operations/liquidity.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, built, call, first, followedBy, followedByAll, maybe, type Found } from '../engine/pattern.ts';
import type { liquidityTypes } from '../operations/liquidity.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// DeDust deposits: a contract of its own waits for both assets, then pays them into the pool.

const vaultOpcode = 0xd55e4686;
const orderOpcode = 0x40e108d6;
const askFactoryOpcode = 0xf04ec526;
const deployOpcode = 0x9b3aa3fa;
const topUpOpcode = 0x54240fe5;
const poolOpcode = 0xb56b9598;
const rejectionOpcode = 0xe1a36cd4;

const targetAmounts = { minimum: coins, amount0: coins, amount1: coins };
const poolAssets = { isStable: bit, asset0: dedustAsset, asset1: dedustAsset };

/** TON for a deposit. */
const vaultBody = body({ queryId: uint64, amount: coins, ...poolAssets, targets: inRef(fields(targetAmounts)) });
/** Jettons of a deposit, as the vault is notified. */
const notifyBody = body({ queryId: uint64, amount: coins, sender: maybeAddress, payload });
const order = fields({ opcode: uint32, ...poolAssets, ...targetAmounts });
const poolBody = body({
  queryId: uint64,
  proof: ref,
  owner: maybeAddress,
  minimum: coins,
  targets: inRef(fields({ asset0: dedustAsset, amount0: coins, asset1: dedustAsset, amount1: coins })),
});

/** Asset that came in, null for TON, and the owner's wallet that sent it. */
type Sent = { readonly asset: string | null; readonly amount: bigint; readonly wallet: string | null };

type Targets = Pick<ReturnType<typeof poolBody>['targets'], 'asset0' | 'asset1' | 'amount0' | 'amount1'>;

/** Data of a deposit. The half that came first does not name the pool. */
type PoolDeposit = {
  readonly owner: string | null;
  readonly contract: string;
  readonly pool: string | null;
  readonly sent: readonly Sent[];
  readonly targets: Targets;
  readonly minted: bigint | null;
  readonly excesses: readonly { readonly asset: string | null; readonly amount: bigint }[] | null;
};

const finalType = 'dedust_deposit_liquidity';
const partialType = 'dedust_deposit_liquidity_partial';

function depositOf({ type, data }: TraceFragment): PoolDeposit | undefined {
  return type === finalType || type === partialType ? (data as PoolDeposit) : undefined;
}

function depositBlock(type: Type, deposit: PoolDeposit): NewFragment<Type> {
  const { owner, contract, pool, sent, targets, minted, excesses } = deposit;
  return {
    type,
    actionType: 'dex_deposit_liquidity',
    columns: {
      source: owner,
      destination: pool,
      destinationSecondary: contract,
      data: depositData({
        dex: 'dedust',
        amount1: sent[0]?.amount ?? null,
        amount2: sent[1]?.amount ?? null,
        asset1: sent[0]?.asset ?? null,
        asset2: sent[1]?.asset ?? null,
        wallet1: sent[0]?.wallet ?? null,
        wallet2: sent[1]?.wallet ?? null,
        minted,
        targetAsset1: targets.asset0,
        targetAsset2: targets.asset1,
        targetAmount1: targets.amount0,
        targetAmount2: targets.amount1,
        excesses,
      }),
    },
    data: deposit,
    failed: type === finalType && minted === null,
  };
}

/** Entry of an asset: TON at its vault, or jettons with a notification to a vault. */
const incoming = first(
  as('deposit', call(vaultOpcode)),
  after(
    after(as('transfer', call(transferOpcode)), as('internal', call(internalTransferOpcode))),
    as('deposit', call(notifyOpcode)),
  ),
);

const deploy = call(deployOpcode);

const excess = maybe(
  followedByAll(
    call(0x6b0b787f),
    maybe(
      followedBy(
        call(transferOpcode),
        as('jetton-excess', followedBy(call(internalTransferOpcode), maybe(call(notifyOpcode)))),
      ),
    ),
    maybe(as('ton-excess', call(payoutOpcode))),
  ),
);
/** Excess: TON from the deposit's contract itself, the rest from vaults. */
const leftovers = [maybe(built(tonTransferType)), excess, excess] as const;

const final: Matcher<Type> = {
  pattern: after(
    after(followedBy(after(incoming, call(askFactoryOpcode)), maybe(deploy)), call(topUpOpcode)),
    followedByAll(
      call(poolOpcode),
      first(
        as('minted', followedBy(call(internalTransferOpcode), maybe(call(notifyOpcode)))),
        followedByAll(call(rejectionOpcode), ...leftovers),
      ),
      maybe(followedByAll(call(0xaae79256), ...leftovers)),
    ),
  ),
  build(root, found, { interfaces }) {
    const { message, source: contract, destination: pool } = innerCall(root);
    const { owner, targets } = poolBody(message);
    const sent = sentIn(found, interfaces);
    if (sent === undefined) return undefined;
    const minted = found.one('minted');
    const transfer = found.one('transfer');
    const isOwners = transfer !== undefined && innerCall(transfer).source === owner;
    return depositBlock(finalType, {
      owner,
      contract,
      pool,
      sent: [isOwners ? sent : { ...sent, wallet: null }],
      targets,
      minted: minted === undefined ? null : internalTransferBody(innerCall(minted).message).amount,
      excesses: excessesOf(found, owner, interfaces),
    });
  },
};

/** Undefined when the master of the vault's wallet is unknown. */
function sentIn(found: Found, interfaces: Interfaces): Sent | undefined {
  const { opcode, message, source } = innerCall(found.one('deposit')!);
  if (opcode === vaultOpcode) return { asset: null, amount: vaultBody(message).amount, wallet: null };
  const asset = interfaces.jettonWallet(source)?.jetton;
  const { amount } = notifyBody(message);
  return asset === undefined ? undefined : { asset, amount, wallet: innerCall(found.one('internal')!).source };
}

/** Amounts that vaults returned to the owner. */
function excessesOf(found: Found, owner: string | null, interfaces: Interfaces) {
  const tons = found.all('ton-excess').flatMap((block) => {
    const { message, destination } = innerCall(block);
    return destination === owner ? [{ asset: null, amount: message.value ?? 0n }] : [];
  });
  const jettons = found.all('jetton-excess').flatMap((block) => {
    const { message, destination } = innerCall(block);
    const wallet = interfaces.jettonWallet(destination);
    return wallet?.owner === owner ? [{ asset: wallet.jetton, amount: internalTransferBody(message).amount }] : [];
  });
  return [...tons, ...jettons];
}

/** The first half of a deposit, which waits for the other. */
const partial: Matcher<Type> = {
  pattern: after(followedBy(after(incoming, call(askFactoryOpcode)), deploy), {
    ...call(topUpOpcode),
    test: isTopUpAlone,
  }),
  build(root, found, { interfaces }) {
    const ordered = orderOf(found);
    const sent = sentIn(found, interfaces);
    if (ordered === undefined || sent === undefined) return undefined;
    return depositBlock(partialType, {
      ...ordered,
      contract: innerCall(root).destination,
      pool: null,
      sent: [sent],
      minted: null,
      excesses: null,
    });
  },
};

function isTopUpAlone(block: TraceFragment): boolean {
  const isPaidIn = block.next.some((next) => [poolOpcode, rejectionOpcode].includes(callOf(next)?.opcode ?? -1));
  return callOf(block)?.opcode === topUpOpcode && !isPaidIn;
}

/** Depositor, and the totals that are to come. */
function orderOf(found: Found): Pick<PoolDeposit, 'owner' | 'targets'> | undefined {
  const { opcode, message, source } = innerCall(found.one('deposit')!);
  if (opcode === vaultOpcode) {
    const { asset0, asset1, targets } = vaultBody(message);
    return { owner: source, targets: { asset0, asset1, ...targets } };
  }
  const { sender: owner, payload: carried } = notifyBody(message);
  const targets = carried === null ? undefined : peek(carried, order);
  return targets?.opcode === orderOpcode ? { owner, targets } : undefined;
}

/** Halves of a deposit. A contract that took more than both halves waited several times, and its halves cannot be paired. */
const HALVES_MAX = 2;

/**
 * Makes one deposit of the two halves that came to one contract; they need not follow each other (service/actions/README.md#after-matching).
 * @returns the root, which may be a new block
 */
export function joinDedustDeposits(root: TraceFragment): TraceFragment {
  const halves = new Map<string, TraceFragment[]>();
  for (const block of breadthFirst(root)) {
    const deposit = depositOf(block);
    if (deposit !== undefined) halves.set(deposit.contract, [...(halves.get(deposit.contract) ?? []), block]);
  }
  const all = [...halves.values()];
  if (all.some(({ length }) => length > HALVES_MAX)) return root;
  let top = root;
  for (const blocks of all) {
    const partialHalf = blocks.find(({ type }) => type === partialType);
    const finalHalf = blocks.find(({ type }) => type === finalType);
    if (partialHalf === undefined || finalHalf === undefined) continue;
    const whole = wholeOf(depositOf(partialHalf)!, depositOf(finalHalf)!);
    if (whole === undefined) continue;
    // Both beginnings belong to it, where there are two.
    const [{ parent: other }, { parent: begun }] = [firstNode(partialHalf), firstNode(finalHalf)];
    const joined = joinFragments(
      depositBlock(finalType, whole),
      [finalHalf, partialHalf],
      finalHalf.begunBy,
      other === begun ? undefined : other,
    );
    if (joined.previous === undefined) top = joined;
  }
  return top;
}

/** Undefined when the halves contradict each other. */
function wholeOf(half: PoolDeposit, rest: PoolDeposit): PoolDeposit | undefined {
  const [one] = half.sent;
  const [other] = rest.sent;
  if (one === undefined || other === undefined) return undefined;
  const assets = new Set([one.asset, other.asset]);
  const isPair = ({ asset0, asset1 }: Targets) =>
    assets.size === 2 && assets.has(asset0) && assets.has(asset1) && asset0 !== asset1;
  if (!isPair(half.targets) || !isPair(rest.targets)) return undefined;
  // Clients expect assets in order of arrival, and amounts in the order of the pool.
  return { ...rest, sent: [one, other], targets: { ...rest.targets, asset0: one.asset, asset1: other.asset } };
}

/** Types of liquidity at DeDust. */
const types = {
  dedust_deposit_liquidity: { isHelper: true, isIndivisible: true },
  dedust_deposit_liquidity_partial: { isHelper: true, isIndivisible: true },
} satisfies FamilyTypes;

type Type = keyof typeof types | keyof typeof liquidityTypes;

/** Actions of liquidity at DeDust. */
export const dedustLiquidity = { types, matchers: { final, partial } } satisfies Family;
