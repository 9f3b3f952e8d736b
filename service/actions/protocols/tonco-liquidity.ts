import {
  address,
  bigUint,
  bit,
  body,
  coins,
  fields,
  inRef,
  int,
  maybeAddress,
  tryRead,
  uint,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, built, call, first, followedBy, followedByAll, maybe, type Pattern } from '../engine/pattern.ts';
import { firstNode, type TraceFragment } from '../engine/trace-fragment.ts';
import { innerCall, jettonTransferOf, notifyOpcode } from '../operations/jettons.ts';
import { depositData, withdrawalData, type WithdrawnAsset } from '../operations/liquidity.ts';
import { assetOfWallet, proxyTonAfter, proxyTonOpcode, sideOfJettons } from './stonfi-v2.ts';
import { jettonTransfer, payToBody, payToOpcode, proxyTonBody } from './tonco.ts';
import type { liquidityTypes } from '../operations/liquidity.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// TONCO: liquidity. Shares of a pool are items with a range of prices.

const BURNED: ReadonlySet<number> = new Set([0, 201]);

const addBody = body({
  queryId: uint64,
  amount0: coins,
  amount1: coins,
  enough0: coins,
  enough1: coins,
  liquidity: bigUint(128),
  tickLower: int(24),
  tickUpper: int(24),
});
/** First message to the item of a position. */
const positionBody = body({
  queryId: uint64,
  owner: address,
  liquidity: bigUint(128),
  tickLower: int(24),
  tickUpper: int(24),
  fees: inRef(fields({ growth0: bigUint(256), growth1: bigUint(256), index: uint64 })),
});
const fundBody = body({ queryId: uint64, owner: maybeAddress, amount0: coins, amount1: coins });

const refund = (label: string): Pattern => as(label, followedBy(jettonTransfer, maybe(call(proxyTonOpcode))));

const deposit: Matcher<Type> = {
  pattern: after(
    as(
      'fund',
      after(
        first(after(as('ton', call(proxyTonOpcode)), call(notifyOpcode)), as('jettons', jettonTransfer)),
        call(0x4468de77),
      ),
    ),
    followedBy(
      call(0x3ebe5431),
      maybe(
        as(
          'mint',
          followedByAll(
            call(0x81702ef8),
            maybe(followedByAll(call(payToOpcode), maybe(refund('refund')), maybe(refund('refund')))),
            as('item', built('nft_mint')),
            maybe(call(0xd53276db)),
          ),
        ),
      ),
    ),
  ),
  build(root, found, { interfaces }) {
    const { message, source: pool, destination: account } = innerCall(root);
    const position = addBody(message);
    const fund = found.one('fund')!;
    const { owner, amount0, amount1 } = fundBody(innerCall(fund).message);
    const transfer = jettonTransferOf(found.one('jettons'));
    const isFirst = amount0 > 0n;
    const item = found.one('item');
    const made = item && positionBody(firstNode(item).message!);
    const { asset = null, sourceWallet: wallet = null } = transfer === undefined ? {} : sideOfJettons(transfer);
    const pair = pairOf(fund, asset, isFirst, interfaces);
    return {
      type: 'tonco_deposit_liquidity',
      actionType: 'dex_deposit_liquidity',
      columns: {
        source: owner,
        sourceSecondary: wallet,
        destination: pool,
        destinationSecondary: account,
        data: depositData({
          dex: 'tonco',
          amount1: isFirst ? amount0 : amount1,
          asset1: asset,
          ...(isFirst ? { wallet1: wallet } : { wallet2: wallet }),
          minted: made?.liquidity ?? null,
          targetAsset1: pair[0],
          targetAsset2: pair[1],
          targetAmount1: position.enough0,
          targetAmount2: position.enough1,
          excesses: found.all('refund').map(paidAsset),
          tickLower: position.tickLower,
          tickUpper: position.tickUpper,
          nftIndex: made?.fees.index ?? null,
          nftAddress: item?.columns.destination ?? null,
        }),
      },
      failed: root.failed,
    };
  },
};

const fundPayload = fields({ opcode: uint32, otherWallet: address });

/** Both assets of the pool: the incoming asset, and the asset whose wallet the payment names. */
function pairOf(
  fund: TraceFragment,
  sent: string | null,
  isFirst: boolean,
  interfaces: Interfaces,
): readonly [string | null, string | null] {
  const carried = payloadBefore(fund);
  const read = carried && tryRead(() => fundPayload(carried));
  const other = read ? assetOfWallet(read.otherWallet, interfaces) : null;
  return isFirst ? [sent, other] : [other, sent];
}

/** Payload of the previous payment. */
function payloadBefore(fund: TraceFragment) {
  const before = fund.previous;
  const transfer = jettonTransferOf(before);
  if (transfer !== undefined) return transfer.forwardPayload?.clone();
  const ton = before?.previous;
  return ton === undefined ? undefined : tryRead(() => proxyTonBody(innerCall(ton).message).payload)?.clone();
}

const minters = inRef(fields({ minter0: maybeAddress, minter1: maybeAddress, controller: address }));
const createBody = body({
  queryId: uint64,
  wallet0: maybeAddress,
  wallet1: maybeAddress,
  spacing: int(24),
  price: bigUint(160),
  protocolFee: uint(16),
  feeBase: uint(16),
  feeCurrent: uint(16),
  content: (slice) => void slice.ref(),
  itemContent: (slice) => void slice.ref(),
  minters,
});

const initBody = body({
  queryId: uint64,
  fromAdmin: bit,
  hasAdmin: bit,
  admin: maybeAddress,
  hasController: bit,
  controller: maybeAddress,
  setsSpacing: bit,
  spacing: int(24),
  setsPrice: bit,
  price: bigUint(160),
  setsActive: bit,
  isActive: bit,
});

const deployPool: Matcher<Type> = {
  pattern: followedBy(call(0x2e3034ef), as('init', followedBy(call(0x441c39ed), maybe(call(0xd53276db))))),
  build(root, found) {
    const { message, source, destination: router } = innerCall(root);
    const order = createBody(message);
    const init = innerCall(found.one('init')!);
    return {
      type: 'tonco_deploy_pool',
      columns: {
        source,
        destination: router,
        destinationSecondary: init.destination,
        data: {
          tonco_deploy_pool_data: {
            jetton0_router_wallet: order.wallet0,
            jetton1_router_wallet: order.wallet1,
            jetton0_minter: order.minters.minter0,
            jetton1_minter: order.minters.minter1,
            tick_spacing: order.spacing.toString(),
            initial_price_x96: order.price,
            protocol_fee: order.protocolFee.toString(),
            lp_fee_base: order.feeBase.toString(),
            lp_fee_current: order.feeCurrent.toString(),
            pool_active: initBody(init.message).isActive,
          },
        },
      },
      failed: root.failed,
    };
  },
};

const startBurnBody = body({
  queryId: uint64,
  index: uint64,
  liquidity: bigUint(128),
  tickLower: int(24),
  tickUpper: int(24),
});
const positionBurnBody = body({ queryId: uint64, owner: maybeAddress });
const poolBurnBody = body({ queryId: uint64, recipient: address, index: uint64 });

/** The router's wallet of proxy TON. It is in no trace without a payment of TON, and is unknown then. */
const WRAPPED_TON_WALLET = '0:871DA9215B14902166F0EA2A16DB56278D528108377F8158C5F4CCFDFDD22E17';

const withdraw: Matcher<Type> = {
  pattern: followedBy(
    call(0x530b5f2c),
    as(
      'position',
      followedBy(
        call(0x46ca335a),
        followedBy(
          as('burn', call(0xd73ac09d)),
          as('payout', followedByAll(call(payToOpcode), maybe(refund('out')), maybe(refund('out')))),
        ),
      ),
    ),
  ),
  build(root, found, { interfaces }) {
    const { message, destination: pool } = innerCall(root);
    const order = startBurnBody(message);
    const position = innerCall(found.one('position')!);
    const payTo = innerCall(found.one('payout')!);
    const { out, exitCode, receiver0, receiver1 } = payToBody(payTo.message);
    const { owner } = positionBurnBody(position.message);
    const burnt = tryRead(() => poolBurnBody(innerCall(found.one('burn')!).message).index);
    /** Paid amount, or the intended amount when nothing was paid. */
    const side = (token: string | null, amount: bigint | undefined, receiver: string | null): WithdrawnAsset => {
      const asset = assetOfWallet(token, interfaces);
      const paidOut = found.all('out').find((block) => jettonTransferOf(block)!.senderWallet === token);
      if (paidOut !== undefined) return paidAsset(paidOut);
      const isKnown = token === WRAPPED_TON_WALLET || (token !== null && interfaces.jettonWallet(token) !== undefined);
      const dexJettonWallet = asset === null && isKnown ? null : token;
      return { amount: amount ?? null, asset, userWallet: receiver, dexJettonWallet, dexWallet: pool };
    };
    return {
      type: 'tonco_withdraw_liquidity',
      actionType: 'dex_withdraw_liquidity',
      columns: {
        source: owner,
        destination: pool,
        data: withdrawalData({
          dex: 'tonco',
          first: side(out?.token0 ?? null, out?.amount0, receiver0),
          second: side(out?.token1 ?? null, out?.amount1, receiver1),
          burnt: order.liquidity,
          nftIndex: burnt || order.index,
          nftAddress: position.destination,
          tickLower: order.tickLower,
          tickUpper: order.tickUpper,
        }),
      },
      failed: !BURNED.has(exitCode),
    };
  },
};

/** Jettons that the router paid, or TON by its proxy. */
function paidAsset(out: TraceFragment): WithdrawnAsset & { readonly amount: bigint } {
  const transfer = jettonTransferOf(out)!;
  const { asset, source, sourceWallet, destinationWallet } = sideOfJettons(transfer);
  const { amount } = transfer;
  const [proxy] = proxyTonAfter(out);
  return {
    amount: proxy === undefined ? amount : proxyTonBody(innerCall(proxy).message).amount,
    asset: proxy === undefined ? asset : null,
    userWallet: destinationWallet,
    dexJettonWallet: sourceWallet,
    dexWallet: source,
  };
}

/** Types of liquidity at TONCO. */
const types = {
  tonco_deploy_pool: {
    words: ['Pool deployment', '{@source} deploys {@pool}[ of {!jetton_minter_1}][ and {!jetton_minter_2}] at tonco'],
    since: 'v2',
    groups: [],
    isIndivisible: false,
    details: {
      source: 'address source',
      pool: 'address destinationSecondary',
      router: 'address destination',
      router_jetton_wallet_1: 'address tonco_deploy_pool_data.jetton0_router_wallet',
      router_jetton_wallet_2: 'address tonco_deploy_pool_data.jetton1_router_wallet',
      jetton_minter_1: 'address tonco_deploy_pool_data.jetton0_minter',
      jetton_minter_2: 'address tonco_deploy_pool_data.jetton1_minter',
      tick_spacing: 'text tonco_deploy_pool_data.tick_spacing',
      initial_price_x96: 'amount tonco_deploy_pool_data.initial_price_x96',
      protocol_fee: 'text tonco_deploy_pool_data.protocol_fee',
      lp_fee_base: 'text tonco_deploy_pool_data.lp_fee_base',
      lp_fee_current: 'text tonco_deploy_pool_data.lp_fee_current',
      pool_active: 'flag tonco_deploy_pool_data.pool_active',
    },
  },
  tonco_deposit_liquidity: { isHelper: true, isIndivisible: true },
  tonco_withdraw_liquidity: { isHelper: true, isIndivisible: true },
} satisfies FamilyTypes;

type Type = keyof typeof types | keyof typeof liquidityTypes;

/** Actions of liquidity at TONCO. */
export const toncoLiquidity = { types, matchers: { deposit, deployPool, withdraw } } satisfies Family;
