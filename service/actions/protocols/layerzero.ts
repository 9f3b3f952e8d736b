import { DecodeError } from '#service/decode/errors.ts';
import { bigUint, body, fields, inRef, ref, rest, uint32, uint64, uint256, type FieldReader } from '../engine/body.ts';
import type { ActionData } from '../engine/columns.ts';
import { innerCall, jettonTransferOf, jettonTransferType } from '../operations/jettons.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, built, call, followedBy, followedByAll, maybe } from '../engine/pattern.ts';
import { tonTransferType } from '../engine/basic-blocks.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// LayerZero: packets to and from other chains. Its contracts store data in objects that begin with their name and their layout.

const eventOpcode = 0xe33b9873;

/** Name, places of the fields, and ones up to the first field. */
const NAME_BYTES = 10;
const LAYOUT_BITS = 270;

/** An object of this name: what follows its head. Throws DecodeError `bad_tag` for objects of other names. */
function object<T>(name: string, read: FieldReader<T>): FieldReader<T> {
  const wanted = Buffer.from(name.padStart(NAME_BYTES, '\0'), 'latin1');
  return (slice) => {
    if (!slice.bytes(NAME_BYTES).equals(wanted)) {
      throw new DecodeError('bad_tag', `The cell is no ${name}.`, { cell: slice.cell, type: name });
    }
    slice.skip(LAYOUT_BITS);
    return read(slice);
  };
}

/** The first object in another. */
const within = <T>(name: string, read: FieldReader<T>): FieldReader<T> => object(name, inRef(read));

/** A message between contracts has its content in its first reference. */
const message = <T>(read: FieldReader<T>) => body({ content: inRef(read) });

const path = object('path', fields({ srcEid: uint32, srcApp: uint256, dstEid: uint32, dstApp: uint256 }));
const packet = object('Packet', fields({ path: inRef(path), message: inRef(rest), nonce: uint64, guid: uint256 }));
type Packet = ReturnType<typeof packet>;

const lzSend = object(
  'lzSend',
  fields({
    requestId: uint64,
    manager: uint256,
    library: uint256,
    packet: inRef(packet),
    options: ref,
    fees: inRef(fields({ connection: uint256, native: bigUint(128), zro: bigUint(128) })),
  }),
);

const sendCallbackBody = message(within('MdObj', within('MsgReceipt', lzSend)));
const executeBody = message(within('MdObj', packet));
const commitBody = message(within('extendedMd', packet));
const verifiedBody = message(within('MdObj', object('veristatus', fields({ nonce: uint64, status: uint32 }))));

/** Hex without padding. */
const hex = (value: bigint): string => `0x${value.toString(16)}`;

function packetData({ path: way, message: content, nonce, guid }: Packet): ActionData {
  return {
    layerzero_packet_data: {
      src_oapp: hex(way.srcApp),
      dst_oapp: hex(way.dstApp),
      src_eid: way.srcEid,
      dst_eid: way.dstEid,
      nonce,
      guid: hex(guid),
      message: `0x${content.bits(content.remainingBits).toString('hex')}`,
    },
  };
}

const event = maybe(call(eventOpcode));
const excess = maybe(built(tonTransferType));

const send: Matcher<Type> = {
  pattern: followedBy(
    call(0xdd4ea3b4),
    as(
      'channel',
      followedBy(
        call(0x536feb09),
        followedBy(
          call(0x4002b790),
          as(
            'uln',
            followedBy(
              call(0x5de68393),
              followedByAll(
                call(0x421c1a25),
                call(eventOpcode),
                ...Array.from({ length: 5 }, () => excess),
                as('callback', followedByAll(call(0xa2b5fbae), event, excess)),
              ),
            ),
          ),
        ),
      ),
    ),
  ),
  build(root, found) {
    const { source, destination: endpoint } = innerCall(root);
    const { content } = sendCallbackBody(innerCall(found.one('callback')!).message);
    return {
      type: 'layerzero_send',
      columns: {
        source,
        data: {
          layerzero_send_data: {
            send_request_id: content.requestId,
            msglib_manager: hex(content.manager),
            msglib: hex(content.library),
            uln: innerCall(found.one('uln')!).destination,
            native_fee: content.fees.native,
            zro_fee: content.fees.zro,
            endpoint,
            channel: innerCall(found.one('channel')!).destination,
          },
          ...packetData(content.packet),
        },
      },
    };
  },
};

/** Jettons that the packet carries. */
const sendTokens: Matcher<Type> = {
  pattern: after(as('jettons', followedBy(built(jettonTransferType), call(eventOpcode))), built('layerzero_send')),
  build(root, found) {
    const transfer = jettonTransferOf(found.one('jettons'))!;
    const { data = {} } = root.columns;
    return {
      type: 'layerzero_send_tokens',
      columns: {
        source: transfer.sender,
        sourceSecondary: transfer.senderWallet,
        destination: transfer.receiver,
        destinationSecondary: transfer.receiverWallet,
        asset: transfer.jetton,
        amount: transfer.amount,
        data,
      },
    };
  },
};

const receive: Matcher<Type> = {
  pattern: followedByAll(
    call(0x22f3ac09),
    excess,
    followedBy(
      call(0x97df404c),
      followedBy(
        call(0xb7680bc6),
        as('execute', followedByAll(call(0x0c7b8418), event, followedByAll(call(0xcaae25a1), event, excess))),
      ),
    ),
  ),
  build(root, found) {
    const { message: executed, source: channel, destination: app } = innerCall(found.one('execute')!);
    const { content } = executeBody(executed);
    if (app.split(':')[1] !== content.path.dstApp.toString(16).padStart(64, '0').toUpperCase()) return undefined;
    return {
      type: 'layerzero_receive',
      columns: {
        source: innerCall(root).source,
        destination: app,
        destinationSecondary: channel,
        data: packetData(content),
      },
    };
  },
};

const commitPacket: Matcher<Type> = {
  pattern: followedBy(
    call(0x28b97077),
    as(
      'connection',
      followedBy(
        call(0xf9d37b80),
        as(
          'endpoint',
          followedBy(
            call(0x5dab749a),
            as(
              'channel',
              followedByAll(call(0x5388cd88), event, maybe(as('callback', followedBy(call(0x5e178f33), excess)))),
            ),
          ),
        ),
      ),
    ),
  ),
  build(root, found) {
    const callback = found.one('callback');
    if (callback === undefined) return undefined;
    const connection = innerCall(found.one('connection')!).destination;
    const channel = innerCall(found.one('channel')!);
    return {
      type: 'layerzero_commit_packet',
      columns: {
        source: innerCall(root).source,
        sourceSecondary: innerCall(found.one('endpoint')!).destination,
        // Clients expect the connection in both positions.
        destination: connection,
        destinationSecondary: connection,
        asset: channel.destination,
        assetSecondary: innerCall(callback).destination,
        data: packetData(commitBody(channel.message).content),
      },
    };
  },
};

const statuses: ReadonlyMap<number, string> = new Map([
  [0x3bbc306b, 'succeeded'],
  [0x7fcbb4ac, 'nonce_out_of_range'],
  [0x29c53fab, 'dvn_not_configured'],
]);

const verify: Matcher<Type> = {
  pattern: followedBy(
    call(0xa0d51a8d),
    as(
      'proxy',
      followedBy(
        call(0x09f047d9),
        as(
          'uln',
          followedBy(
            call(0x994aaf4e),
            as(
              'connection',
              followedByAll(call(0x4ec8f80a), event, maybe(as('callback', followedBy(call(0x3cb38090), excess)))),
            ),
          ),
        ),
      ),
    ),
  ),
  build(root, found) {
    const callback = found.one('callback');
    if (callback === undefined) return undefined;
    const { nonce, status } = verifiedBody(innerCall(callback).message).content;
    const { source, destination: dvn } = innerCall(root);
    return {
      type: 'layerzero_dvn_verify',
      columns: {
        source,
        data: {
          layerzero_dvn_verify_data: {
            nonce,
            status: statuses.get(status) ?? `unknown_${status}`,
            dvn,
            proxy: innerCall(found.one('proxy')!).destination,
            uln: innerCall(found.one('uln')!).destination,
            uln_connection: innerCall(found.one('connection')!).destination,
          },
        },
      },
    };
  },
};

/** Types of LayerZero. */
const types = {
  layerzero_send: {
    words: [
      'Message to another chain',
      '{@initiator} sends packet {layerzero_packet_data.nonce} to chain {layerzero_packet_data.dst_eid}',
    ],
    since: 'v3',
    groups: ['layerzero'],
    isIndivisible: false,
    details: {
      initiator: 'address source',
      layerzero_send_data: 'layerzero_sending! layerzero_send_data',
      layerzero_packet_data: 'layerzero_packet! layerzero_packet_data',
    },
  },
  layerzero_send_tokens: {
    words: [
      'Tokens to another chain',
      '{@sender} sends[ {#amount/asset}] through {@oapp} to chain {layerzero_packet_data.dst_eid}',
    ],
    since: 'v3',
    groups: ['layerzero'],
    isIndivisible: false,
    details: {
      sender: 'address source',
      sender_wallet: 'address sourceSecondary',
      oapp: 'address destination',
      oapp_wallet: 'address destinationSecondary',
      asset: 'address asset',
      amount: 'amount amount',
      layerzero_send_data: 'layerzero_sending! layerzero_send_data',
      layerzero_packet_data: 'layerzero_packet! layerzero_packet_data',
    },
  },
  layerzero_receive: {
    words: [
      'Message from another chain',
      '{@oapp} receives packet {layerzero_packet_data.nonce} of chain {layerzero_packet_data.src_eid}',
    ],
    since: 'v3',
    groups: ['layerzero'],
    isIndivisible: false,
    details: {
      sender: 'address source',
      oapp: 'address destination',
      channel: 'address destinationSecondary',
      layerzero_packet_data: 'layerzero_packet! layerzero_packet_data',
    },
  },
  layerzero_commit_packet: {
    words: [
      'Packet committed',
      '{@sender} commits packet {layerzero_packet_data.nonce} of chain {layerzero_packet_data.src_eid}',
    ],
    since: 'v3',
    groups: ['layerzero'],
    isIndivisible: false,
    details: {
      sender: 'address source',
      endpoint: 'address sourceSecondary',
      uln: 'address destination',
      uln_connection: 'address destinationSecondary',
      channel: 'address asset',
      msglib_connection: 'address assetSecondary',
      layerzero_packet_data: 'layerzero_packet! layerzero_packet_data',
    },
  },
  layerzero_dvn_verify: {
    words: ['Packet verified', '{@dvn} verifies packet {nonce}[: {status}]'],
    since: 'v3',
    groups: ['layerzero'],
    isIndivisible: false,
    details: {
      initiator: 'address source',
      nonce: 'integer layerzero_dvn_verify_data.nonce',
      status: 'text layerzero_dvn_verify_data.status',
      dvn: 'address layerzero_dvn_verify_data.dvn',
      proxy: 'address layerzero_dvn_verify_data.proxy',
      uln: 'address layerzero_dvn_verify_data.uln',
      uln_connection: 'address layerzero_dvn_verify_data.uln_connection',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of LayerZero. */
export const layerzero = { types, matchers: { send, sendTokens, receive, commitPacket, verify } } satisfies Family;
