import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { callOf } from '../engine/basic-blocks.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import { body, coins, maybeAddress, tryRead, uint256, uint64 } from '../engine/body.ts';
import type { ActionColumns } from '../engine/columns.ts';
import type { EventMessage } from '../engine/classifier-input.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  after,
  any,
  as,
  built,
  call,
  first,
  followedBy,
  followedByAll,
  maybe,
  type Pattern,
} from '../engine/pattern.ts';
import {
  burnNotificationOpcode,
  innerCall,
  jettonBurnOf,
  jettonBurnType,
  jettonMintOf,
  jettonMintType,
} from '../operations/jettons.ts';
import type { DetailFields, FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// tgBTC: bitcoins moved to TON and back. Logs report the results.

const mintLog = 0x77a80ef3;
const burnLog = 0xca444ce6;
const newKeyLog = 0x27756729;
const dkgLog = 0x453443a6;

const mintEvent = body({ amount: coins, recipient: maybeAddress, bitcoinTxId: uint256 });
const burnEvent = body({ amount: coins, parties: (slice) => burnParties(slice) });
const newKeyEvent = body({ amount: coins, key: uint256, pegout: maybeAddress });
const dkgEvent = body({ timestamp: uint64, key: uint256 });

/** Old logs end before the addresses, or within. */
function burnParties(slice: ContractSlice): { readonly sender: string | null; readonly pegout: string | null } {
  const sender = tryRead(() => maybeAddress(slice));
  const pegout = sender === undefined ? undefined : tryRead(() => maybeAddress(slice));
  return { sender: sender ?? null, pegout: pegout ?? null };
}

function logOf(block: TraceFragment | undefined): EventMessage {
  return callOf(block!)!.message;
}

/** Bitcoin writes its ids with the last byte first. */
function bitcoinId(id: bigint): string {
  return Buffer.from(Buffer.from(id.toString(16).padStart(64, '0'), 'hex').toReversed()).toString('hex');
}

const keyText = (key: bigint): string => key.toString(16);

/** Steps of a mint between its request and its end; each of its parts makes some. What else they sent is no part of it. */
const STEPS_MAX = 20;
const mintRequest = 0x3f781d24;

const mint: Matcher<Type> = {
  pattern: followedByAll(call(0xe42a879b), as('log', call(mintLog)), as('mint', built(jettonMintType))),
  build(root, found) {
    const before: TraceFragment[] = [];
    for (let at = root.previous; at !== undefined && before.length < STEPS_MAX; at = at.previous) {
      before.push(at);
      if (callOf(at)?.opcode === mintRequest) break;
    }
    const request = before.at(-1);
    if (request === undefined || callOf(request)?.opcode !== mintRequest) return undefined;
    const { amount, recipient, bitcoinTxId } = mintEvent(logOf(found.one('log')));
    const { jetton, wallet } = jettonMintOf(found.one('mint'))!;
    return {
      type: 'tgbtc_mint',
      columns: {
        source: innerCall(request).source,
        sourceSecondary: innerCall(root).destination,
        destination: recipient,
        destinationSecondary: wallet,
        asset: jetton,
        assetSecondary: bitcoinId(bitcoinTxId),
        amount,
      },
      also: before,
    };
  },
};

const pegout = maybe(followedByAll(call(0xbe44e7a6), maybe(call(0x1a84c0e0)), maybe(built('ton_transfer'))));
const burnLogged = (opcode: number): Pattern => followedByAll(call(opcode), as('log', call(burnLog)), pegout);

const burn: Matcher<Type> = {
  pattern: followedBy(built(jettonBurnType), first(burnLogged(burnNotificationOpcode), burnLogged(0x587643a2))),
  build(root, found) {
    const { owner, wallet, jetton, amount } = jettonBurnOf(root)!;
    const event = burnEvent(logOf(found.one('log')));
    return {
      type: 'tgbtc_burn',
      columns: {
        source: owner,
        sourceSecondary: wallet,
        destination: event.parties.pegout,
        asset: jetton,
        amount: amount === 0n || event.amount < amount ? event.amount : amount,
      },
      failed: root.failed,
    };
  },
};

const newKey: Matcher<Type> = {
  pattern: after(
    followedBy(any, as('dkg', call(dkgLog))),
    followedByAll(call(0x690f357a), as('log', call(newKeyLog)), pegout),
  ),
  build(root, found) {
    const { source, destination } = innerCall(root);
    const { amount, key, pegout: to } = newKeyEvent(logOf(found.one('log')));
    return {
      type: 'tgbtc_new_key',
      columns: {
        source,
        sourceSecondary: keyText(key),
        destination,
        destinationSecondary: to,
        amount,
        value: dkgEvent(logOf(found.one('dkg'))).timestamp,
      },
      failed: root.failed,
    };
  },
};

type LoggedType = 'tgbtc_mint' | 'tgbtc_burn' | 'tgbtc_new_key' | 'tgbtc_dkg_log';

/** A log that belongs to none of the operations above. */
function alone(type: LoggedType, opcode: number, say: (message: EventMessage) => ActionColumns): Matcher<Type> {
  return {
    pattern: call(opcode),
    build: (root) => ({ type, actionType: `${type}_fallback` as const, columns: say(logOf(root)) }),
  };
}

const mintAlone = alone('tgbtc_mint', mintLog, (message) => {
  const { amount, recipient, bitcoinTxId } = mintEvent(message);
  const { source } = message;
  return { source, sourceSecondary: source, destination: recipient, assetSecondary: bitcoinId(bitcoinTxId), amount };
});

const burnAlone = alone('tgbtc_burn', burnLog, (message) => {
  const { amount, parties } = burnEvent(message);
  return { source: parties.sender, destination: parties.pegout, amount };
});

const newKeyAlone = alone('tgbtc_new_key', newKeyLog, (message) => {
  const { amount, key, pegout: to } = newKeyEvent(message);
  return { sourceSecondary: keyText(key), destination: message.source, destinationSecondary: to, amount };
});

const dkgAlone = alone('tgbtc_dkg_log', dkgLog, (message) => {
  const { timestamp, key } = dkgEvent(message);
  return { source: message.source, asset: keyText(key), value: timestamp };
});

const tgbtcMintDetails = {
  source: 'address source',
  destination: 'address destination',
  amount: 'amount amount',
  asset: 'address asset',
  bitcoin_tx_id: 'text assetSecondary',
  destination_wallet: 'address destinationSecondary',
} satisfies DetailFields;

const tgbtcBurnDetails = {
  source: 'address source',
  source_wallet: 'address sourceSecondary',
  destination: 'address destination',
  amount: 'amount amount',
  asset: 'address asset',
} satisfies DetailFields;

const tgbtcNewKeyDetails = {
  source: 'address source',
  pubkey: 'text sourceSecondary',
  coordinator: 'address destination',
  pegout: 'address destinationSecondary',
  amount: 'amount amount',
  asset: 'address asset',
} satisfies DetailFields;

/** Types of tgBTC. */
const types = {
  tgbtc_mint: {
    words: ['tgBTC mint', '{#amount/asset} are minted for {@destination}[ by Bitcoin transaction {bitcoin_tx_id}]'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: tgbtcMintDetails,
  },
  tgbtc_mint_fallback: {
    words: ['tgBTC mint', '{#amount/asset} are minted for {@destination}'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: tgbtcMintDetails,
  },
  tgbtc_burn: {
    words: ['tgBTC burn', '{@source} burns {#amount/asset}'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: tgbtcBurnDetails,
  },
  tgbtc_burn_fallback: {
    words: ['tgBTC burn', '{@source} burns {#amount/asset}'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: tgbtcBurnDetails,
  },
  tgbtc_new_key: {
    words: ['tgBTC key', '{@source} makes a new key of {@coordinator}[ with {#amount/asset}]'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: tgbtcNewKeyDetails,
  },
  tgbtc_new_key_fallback: {
    words: ['tgBTC key', '{@source} makes a new key of {@coordinator}[ with {#amount/asset}]'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: tgbtcNewKeyDetails,
  },
  tgbtc_dkg_log_fallback: {
    words: ['tgBTC key log', '{@coordinator} logs key {pubkey}'],
    since: 'unversioned',
    groups: ['tgbtc'],
    isIndivisible: false,
    details: { coordinator: 'address source', pubkey: 'text asset', timestamp: 'amount value' },
  },
  tgbtc_dkg_log: { isHelper: true, isIndivisible: false },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of tgBTC. */
export const tgbtc = {
  types,
  matchers: { mint, burn, newKey, mintAlone, burnAlone, newKeyAlone, dkgAlone },
} satisfies Family;
