import { Address, beginCell, Cell, external, internal, storeMessage } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { editConfig } from '#service/devchain/chain/edit-builders.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import { shownIn, startEmulateUnderTest, transactionsIn, type EmulateUnderTest } from '../emulate-under-test.ts';

const contract = Address.parseRaw(`0:${'5'.repeat(64)}`);
const sender = Address.parseRaw(`0:${'6'.repeat(64)}`);
const publisher = Address.parseRaw(`-1:${'7'.repeat(64)}`);

/** A parameter that the network itself does not read. */
const PARAMETER = 71;

/** `71 PUSHINT; CONFIGPARAM; 50 THROWIFNOT; c4 POPCTR`: stores the parameter. */
const storesParameter = beginCell().storeBuffer(Buffer.from('8047F832F2B2ED54', 'hex')).endCell();

/** `NEWC; ENDC; c4 POPCTR`. */
const library = beginCell().storeBuffer(Buffer.from('C8C9ED54', 'hex')).endCell();

const reference = beginCell().storeUint(2, 8).storeBuffer(library.hash()).endCell({ exotic: true });

/** `SETCP0; ACCEPT; PUSHREF library; 2 PUSHINT; SETLIBCODE`. */
const publishes = beginCell().storeUint(0xff00f800, 32).storeUint(0x8872fb06, 32).storeRef(library).endCell();

let network: PrivateNetwork;
let setting: EmulateUnderTest;
let before: number;
let after: number;

beforeAll(async () => {
  network = await startPrivateNetwork();
  await network.step([
    putAccount({ workchain: -1, id: publisher.hash }, { code: publishes, data: Cell.EMPTY }),
    setParameter(1),
  ]);
  await network.step();
  before = network.head().id.seqno;
  await network.step([setParameter(2)]);
  network.send(boc(external({ to: publisher })));
  for (let step = 0; step < 3; step++) await network.step();
  after = network.head().id.seqno;
  setting = await startEmulateUnderTest(network);
});
afterAll(() => setting.close());

function setParameter(value: number): ReturnType<typeof editConfig> {
  return editConfig((states) => new Map([[PARAMETER, new BitWriter().uint(value, 8).finish(states)]]));
}

function boc(message: Parameters<typeof storeMessage>[0]): Buffer {
  return beginCell().store(storeMessage(message)).endCell().toBoc();
}

/** Runs a message to a contract with the code on a block. Returns the transaction and the data after it. */
async function run(code: Cell, seqno: number): Promise<{ readonly exitCode: number; readonly data: Cell | undefined }> {
  const relaxed = internal({ to: contract, value: 1_000_000_000n, bounce: true });
  const message = boc({ ...relaxed, info: { ...relaxed.info, src: sender } });
  const shown = shownIn(
    await setting.emulate({
      boc: message.toString('base64'),
      ignore_chksig: true,
      include_code_data: true,
      mc_block_seqno: seqno,
      overrides: { [contract.toRawString()]: { balance: '1000000000', code: code.toBoc().toString('base64') } },
    }),
  );
  const [first] = transactionsIn(shown);
  const { description } = first as unknown as { readonly description: { readonly compute_ph: { exit_code: number } } };
  const cell = shown.data_cells[first!.account_state_after.data_hash!];
  return { exitCode: description.compute_ph.exit_code, data: cell === undefined ? undefined : Cell.fromBase64(cell) };
}

describe('an emulation on a past block', () => {
  it('has the configuration of that block', async () => {
    const stored = [];
    for (const seqno of [before, after, before]) stored.push((await run(storesParameter, seqno)).data);
    expect(stored.map((data) => data!.beginParse().loadUint(8))).toEqual([1, 2, 1]);
  });

  it('has the libraries of that block', async () => {
    const exitCodes = [];
    for (const seqno of [before, after, before]) exitCodes.push((await run(reference, seqno)).exitCode);
    expect(exitCodes).toEqual([NO_CODE, 0, NO_CODE]);
  });
});

/** Exit code of a cell that cannot be loaded. */
const NO_CODE = 9;
