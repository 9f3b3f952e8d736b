import { Address, beginCell, type Builder } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import {
  accounts,
  bareBody,
  eventTrace,
  knownWallets,
  mintedJettons,
  open,
  type Step,
} from '#test/support/event-traces.ts';

const [user, teleport, client, other, wallet, master, pegout] = accounts(7);
const interfaces = knownWallets({ [wallet]: { owner: user, jetton: master } });
const actionsOf = (step: Step) => classify(eventTrace(user, [step]), interfaces).actions;
const address = (text: string): Address => Address.parse(text);

/** A log: its operation, and an amount. */
const logged = (opcode: number, amount: number): Builder => beginCell().storeUint(opcode, 32).storeCoins(amount);
const mintLog = logged(0x77a80ef3, 70).storeAddress(address(user)).storeUint(1, 256).endCell();
const burnLog = (): Builder => logged(0xca444ce6, 60);
const bitcoinId = `01${'00'.repeat(31)}`;

describe('tgBTC', () => {
  it('is minted, with the steps before and without what else they sent', () => {
    const mint = open(0x642b7d07).storeAddress(address(user)).storeCoins(1).endCell();
    const minted: Step = { to: master, body: mint, sends: [{ to: wallet, body: mintedJettons(70n) }] };
    const last: Step = { to: teleport, body: bareBody(0xe42a879b), sends: [minted], logs: [mintLog] };
    const besides: Step = { to: other, body: bareBody(0x123) };
    const request: Step = { to: client, body: bareBody(0x3f781d24), sends: [last, besides] };
    const actions = actionsOf(request).filter(({ parentActionId }) => parentActionId === null);
    expect(actions.map(({ type }) => type)).toEqual(['tgbtc_mint', 'call_contract']);
    expect(actions[0]).toMatchObject({ source: user, sourceSecondary: teleport, destination: user, success: true });
    expect(actions[0]).toMatchObject({ asset: master, assetSecondary: bitcoinId, amount: 70n });
    expect(actions[0]?.transactions).toHaveLength(5);
    expect(actions[1]).toMatchObject({ opcode: 0x123, destination: other });
  });

  it('is minted by a log alone, by whoever wrote it', () => {
    const action = actionsOf({ to: teleport, body: bareBody(0x123), logs: [mintLog] }).find(({ type }) =>
      type.startsWith('tgbtc'),
    );
    expect(action).toMatchObject({ type: 'tgbtc_mint_fallback', source: teleport, sourceSecondary: teleport });
    expect(action).toMatchObject({ destination: user, assetSecondary: bitcoinId, amount: 70n });
  });

  it.each([
    ['all of it', burnLog().storeAddress(address(user)).storeAddress(address(pegout)), user, pegout],
    ['no receiver', burnLog().storeAddress(address(user)), user, null],
    ['nobody', burnLog(), null, null],
  ])('is burned by a log alone, which tells of %s', (_what, log, source, destination) => {
    const action = actionsOf({ to: teleport, body: bareBody(0x123), logs: [log.endCell()] }).find(({ type }) =>
      type.startsWith('tgbtc'),
    );
    expect(action).toMatchObject({ type: 'tgbtc_burn_fallback', source, destination, amount: 60n });
  });

  it.each([
    [50, 50n],
    [80, 60n],
    [0, 60n],
  ])('is burned: %i of jettons', (burned, amount) => {
    const told = open(0x7bdd97de).storeCoins(burned).storeAddress(address(user)).storeAddress(null).endCell();
    const log = burnLog().storeAddress(address(user)).storeAddress(address(pegout)).endCell();
    const body = open(0x595f07bc).storeCoins(burned).storeAddress(null).endCell();
    const tells: Step = { to: teleport, body: bareBody(0x587643a2), logs: [log] };
    const action = actionsOf({ to: wallet, body, sends: [{ to: master, body: told, sends: [tells] }] }).at(0);
    expect(action).toMatchObject({ type: 'tgbtc_burn', source: user, destination: pegout, asset: master, amount });
  });
});
