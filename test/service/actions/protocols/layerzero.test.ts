import { beginCell, type Builder, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  accountOf,
  bareBody,
  eventTrace,
  jettonTransfer,
  knownWallets,
  type Step,
} from '#test/support/event-traces.ts';

const [user, userWallet, app, appWallet, endpoint, channel, connection, library, jetton] = accounts(9);

const interfaces = knownWallets({
  [userWallet]: { owner: user, jetton },
  [appWallet]: { owner: app, jetton },
});

/** The head of an object: its name, where its fields are, ones. */
const object = (name: string): Builder =>
  beginCell()
    .storeBuffer(Buffer.from(name.padStart(10, '\0'), 'latin1'))
    .storeUint((1n << 255n) - 1n, 255)
    .storeUint(0x7fff, 15);

/** A packet from this chain to an app elsewhere; `name` is what its object is called. */
function packet(dstApp: bigint, name = 'Packet'): Cell {
  const path = object('path').storeUint(30343, 32).storeUint(3, 256).storeUint(30101, 32).storeUint(dstApp, 256);
  return object(name)
    .storeRef(path)
    .storeRef(beginCell().storeUint(0x0102, 16))
    .storeUint(90, 64)
    .storeUint(0x0abc, 256)
    .endCell();
}

const packetData = {
  src_oapp: '0x3',
  dst_oapp: '0xee',
  src_eid: 30343,
  dst_eid: 30101,
  nonce: 90n,
  guid: '0xabc',
  message: '0x0102',
};

const said = (opcode: number, content: Cell | Builder): Cell =>
  beginCell().storeUint(opcode, 32).storeUint(0, 64).storeCoins(0).storeAddress(null).storeRef(content).endCell();

const sendCallback = (sent: Cell): Cell => {
  const fees = beginCell().storeUint(7, 256).storeUint(1000, 128).storeUint(5, 128);
  const order = object('lzSend')
    .storeUint(12, 64)
    .storeUint(0x0d, 256)
    .storeUint(0x0e, 256)
    .storeRef(sent)
    .storeRef(beginCell())
    .storeRef(fees);
  return said(0xa2b5fbae, object('MdObj').storeRef(object('MsgReceipt').storeRef(order)));
};

const event = (to: string): Step => ({ to, body: bareBody(0xe33b9873) });

/** From the app over its endpoint, and back to it. */
const send = (callback: Cell): Step => ({
  to: endpoint,
  body: bareBody(0xdd4ea3b4),
  sends: [
    {
      to: channel,
      body: bareBody(0x536feb09),
      sends: [
        {
          to: connection,
          body: bareBody(0x4002b790),
          sends: [
            {
              to: library,
              body: bareBody(0x5de68393),
              sends: [
                { to: channel, body: bareBody(0x421c1a25), sends: [event(endpoint), { to: app, body: callback }] },
              ],
            },
          ],
        },
      ],
    },
  ],
});

/** Jettons to the app, which sends a packet. */
const sendTokens = (callback: Cell): Step =>
  jettonTransfer({
    wallet: userWallet,
    to: { wallet: appWallet, owner: app },
    from: user,
    amount: 50n,
    sends: [event(app), send(callback)],
  });

const sendData = {
  layerzero_send_data: {
    send_request_id: 12n,
    msglib_manager: '0xd',
    msglib: '0xe',
    uln: library,
    native_fee: 1000n,
    zro_fee: 5n,
    endpoint,
    channel,
  },
  layerzero_packet_data: packetData,
};

describe('a packet of LayerZero', () => {
  it('that carries jettons is one action around the transfer and the packet', () => {
    const { actions } = classify(eventTrace(user, [sendTokens(sendCallback(packet(0xeen)))]), interfaces);
    const [whole] = actions;
    expect(whole).toMatchObject({
      type: 'layerzero_send_tokens',
      source: user,
      sourceSecondary: userWallet,
      destination: app,
      destinationSecondary: appWallet,
      asset: jetton,
      amount: 50n,
      data: sendData,
      success: true,
      parentActionId: null,
    });
    const parts = actions.filter(({ parentActionId }) => parentActionId === whole!.actionId);
    expect(parts.map(({ type }) => type).toSorted()).toEqual(['call_contract', 'jetton_transfer', 'layerzero_send']);
    expect(parts.find(({ type }) => type === 'layerzero_send')).toMatchObject({ source: app, data: sendData });
  });

  it('is none when its object has another name', () => {
    const trace = eventTrace(user, [sendTokens(sendCallback(packet(0xeen, 'Parcel')))]);
    const { state, actions } = classify(trace, interfaces);
    expect(state).toBe('ok');
    expect(actions.map(({ type }) => type)).not.toContain('layerzero_send');
  });

  it.each([
    { dstApp: 3n, what: 'the app that takes it', types: ['layerzero_receive'] },
    { dstApp: 4n, what: 'another app', types: [] },
  ])('is received when it is for $what', ({ dstApp, types }) => {
    const execute = said(0x0c7b8418, object('MdObj').storeRef(packet(dstApp)));
    const executed = { to: app, body: execute, sends: [{ to: channel, body: bareBody(0xcaae25a1) }] };
    const locked = { to: channel, body: bareBody(0xb7680bc6), sends: [executed] };
    const prepared = { to: app, body: bareBody(0x97df404c), sends: [locked] };
    const trace = eventTrace(user, [{ to: channel, body: bareBody(0x22f3ac09), sends: [prepared] }]);
    const { actions } = classify(trace, interfaces);
    expect(actions.map(({ type }) => type).filter((type) => type !== 'call_contract')).toEqual(types);
  });

  it.each([
    [0x3bbc306b, 'succeeded'],
    [0x7fcbb4ac, 'nonce_out_of_range'],
    [0x29c53fab, 'dvn_not_configured'],
    [17, 'unknown_17'],
  ])('is verified with status %i: %s', (code, status) => {
    const result = object('veristatus').storeUint(125, 64).storeUint(code, 32);
    const callback = { to: accountOf(11), body: said(0x3cb38090, object('MdObj').storeRef(result)) };
    const steps = [0x4ec8f80a, 0x994aaf4e, 0x09f047d9, 0xa0d51a8d].reduce<Step>(
      (sends, opcode, index) => ({ to: accountOf(13 - index), body: bareBody(opcode), sends: [sends] }),
      callback,
    );
    const { actions } = classify(eventTrace(user, [steps]), interfaces);
    expect(actions[0]).toMatchObject({
      type: 'layerzero_dvn_verify',
      source: user,
      data: {
        layerzero_dvn_verify_data: {
          nonce: 125n,
          status,
          dvn: accountOf(10),
          proxy: accountOf(11),
          uln: accountOf(12),
          uln_connection: accountOf(13),
        },
      },
    });
  });
});
