import { Address, beginCell, Cell, internal, storeMessage, type Message } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import { scriptedCode, scriptedData, type Response } from '#test/support/scripted-contract.ts';
import { transfer } from '#test/support/wallet.ts';
import { metric } from '#test/service/pool/network.ts';
import { shownIn, startEmulateUnderTest, transactionsIn, type EmulateUnderTest } from '../emulate-under-test.ts';

let forked: ForkedNetwork;
let setting: EmulateUnderTest;

beforeAll(async () => {
  forked = await startForkedNetwork();
  setting = await startEmulateUnderTest(forked.network);
});
afterAll(() => setting.close());

const base64 = (boc: Buffer): string => boc.toString('base64');
const raw = (address: Address): string => address.toRawString().toUpperCase();

const receiver = Address.parseRaw(`0:${'7'.repeat(64)}`);
const stranger = Address.parseRaw(`0:${'b'.repeat(64)}`);
const VALUE = 1_000_000_000n;
const SEED = Buffer.alloc(32, 7).toString('base64');

/** Order of jettons to a receiver without a wallet of the jetton. */
function jettonMessage(): string {
  const w3 = forked.wallet('w3');
  const order = jettonOrder(forked.address('jetton_wallet_w3'), { to: stranger, amount: 1_500_000n, back: w3.address });
  return base64(w3.send(0, [order]));
}

function messageBetween(message: Partial<Message['info']> & { readonly dest: Address }): string {
  const relaxed = internal({ to: message.dest, value: VALUE, bounce: true });
  const info = { ...relaxed.info, src: receiver, ...message } as Message['info'];
  return base64(
    beginCell()
      .store(storeMessage({ ...relaxed, info }))
      .endCell()
      .toBoc(),
  );
}

describe('a message that is emulated', () => {
  it('is a whole trace with the states of its accounts, and changes nothing', async () => {
    const w1 = forked.wallet('w1');
    const boc = base64(w1.send(0, [transfer(receiver, VALUE), transfer(receiver, 2n)]));
    const shown = shownIn(await setting.emulate({ boc }));
    const transactions = transactionsIn(shown);
    expect(transactions.map(({ account }) => account)).toEqual([w1.address, receiver, receiver].map(raw));
    expect(shown.mc_block_seqno).toBe(setting.pool.head()!.block.seqno);
    expect(shown.trace.tx_hash).toBe(transactions[0]!.hash);
    expect(shown.trace.children.map(({ tx_hash }) => tx_hash)).toEqual(transactions.slice(1).map(({ hash }) => hash));
    expect(transactions[1]!.account_state_before).toMatchObject({ account_status: 'nonexist', balance: '0' });
    expect(transactions[1]!.account_state_after).toMatchObject({
      account_status: 'uninit',
      balance: VALUE.toString(),
      extra_currencies: {},
    });
    expect(transactions.every((one) => one.emulated && one.now === setting.pool.head()!.utime)).toBe(true);
    expect(shown).toMatchObject({ actions: [], code_cells: {}, data_cells: {}, is_incomplete: false });
    expect(Object.keys(shown)).not.toContain('address_book');
    expect(Object.keys(shown)).not.toContain('overridden');
    expect(transactionsIn(shownIn(await setting.emulate({ boc })))).toHaveLength(3);
  });

  it('gives the same bytes for the same block and seed, and reports a seed that it drew', async () => {
    const body = { boc: jettonMessage(), with_actions: true, include_code_data: true, include_address_book: true };
    const seeded = await Promise.all([1, 2, 3].map(() => setting.emulate({ ...body, rand_seed: SEED })));
    expect(new Set(seeded.map(({ text }) => text)).size).toBe(1);
    const drawn = await setting.emulate(body);
    const again = await setting.emulate({ ...body, rand_seed: shownIn(drawn).rand_seed });
    expect(again.text).toBe(drawn.text);
    expect(shownIn(await setting.emulate(body)).rand_seed).not.toBe(shownIn(drawn).rand_seed);
  });

  it('has the actions of its own states: jettons to a wallet that the trace deploys', async () => {
    const body = { boc: jettonMessage(), with_actions: true };
    const shown = shownIn(await setting.emulate(body));
    const transferred = shown.actions.find(({ type }) => type === 'jetton_transfer');
    expect(transferred).toMatchObject({
      success: true,
      finality: 'pending',
      details: { asset: raw(forked.address('jetton_minter')), receiver: raw(stranger), amount: '1500000' },
    });
    expect(transferred!['accounts']).toContain(raw(stranger));
  });

  it('has the actions of the version that the caller knows', async () => {
    const body = { boc: base64(forked.wallet('w1').send(0, [])), with_actions: true };
    const typesFor = async (headers: Record<string, string>) =>
      shownIn(await setting.emulate(body, headers)).actions.map(({ type }) => type);
    expect(await typesFor({})).toEqual(['unknown']);
    expect(await typesFor({ 'x-actions-version': 'v1' })).toEqual([]);
  });

  it('has code and data of its accounts after the trace when asked for', async () => {
    const shown = shownIn(await setting.emulate({ boc: jettonMessage(), include_code_data: true }));
    const last = new Map(transactionsIn(shown).map((one) => [one.account, one.account_state_after]));
    const wanted = (part: 'code_hash' | 'data_hash') =>
      new Set([...last.values()].flatMap((state) => state[part] ?? []));
    expect(new Set(Object.keys(shown.code_cells))).toEqual(wanted('code_hash'));
    expect(new Set(Object.keys(shown.data_cells))).toEqual(wanted('data_hash'));
    for (const [hash, boc] of Object.entries({ ...shown.code_cells, ...shown.data_cells })) {
      const bag = parseBoc(Buffer.from(boc, 'base64'));
      expect(bag.hash(bag.roots[0]!).toString('base64')).toBe(hash);
    }
  });

  it('has friendly addresses and interfaces of its accounts, and no metadata, without an index', async () => {
    const body = { boc: jettonMessage(), include_address_book: true, include_metadata: true };
    const shown = shownIn(await setting.emulate(body));
    expect(shown.metadata).toEqual({});
    const accounts = transactionsIn(shown).map(({ account }) => account);
    expect(Object.keys(shown.address_book!)).toEqual(expect.arrayContaining(accounts));
    const [wallet, jettonWallet] = accounts.map((account) => shown.address_book![account]!);
    expect(wallet).toMatchObject({
      user_friendly: expect.stringMatching(/^[U0]/),
      domain: null,
      interfaces: [expect.stringMatching(/^wallet_v/)],
    });
    expect(jettonWallet).toMatchObject({
      user_friendly: expect.stringMatching(/^[Ek]/),
      domain: null,
      interfaces: ['jetton_wallet'],
    });
  });
});

describe('a message that its wallet refuses', () => {
  it('is refused with the exit code of the contract and the end of the log', async () => {
    const { status, body } = await setting.emulate({
      boc: base64(forked.wallet('w2').send(5, [transfer(receiver, VALUE)])),
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({ ok: false, code: 422, error: 'external message was not accepted: exit code 33' });
    expect(body['exit_code']).toBe(33);
    expect(body['vm_log']).toContain('THROWIF');
    expect(String(body['vm_log']).length).toBeLessThanOrEqual(2048);
  });
});

describe('accounts that the request overrides', () => {
  it('have the given balance, and the answer says so', async () => {
    const poor = Address.parseRaw(`0:${'5'.repeat(64)}`);
    const body = { boc: messageBetween({ dest: poor }), ignore_chksig: true, rand_seed: SEED };
    const overridden = shownIn(
      await setting.emulate({ ...body, overrides: { [raw(poor)]: { balance: '5000000000' } } }),
    );
    expect(overridden.overridden).toBe(true);
    expect(transactionsIn(overridden)[0]!.account_state_before).toMatchObject({
      balance: '5000000000',
      account_status: 'uninit',
    });
    expect(transactionsIn(shownIn(await setting.emulate(body)))[0]!.account_state_before.balance).toBe('0');
  });

  it.each([{}, { balance: null, code: null, data: null }])('stay as they are without parts: %j', async (parts) => {
    const body = { boc: messageBetween({ dest: stranger }), ignore_chksig: true, rand_seed: SEED };
    const plain = shownIn(await setting.emulate(body));
    expect(transactionsIn(plain)[0]!.account_state_before.account_status).toBe('nonexist');
    expect(shownIn(await setting.emulate({ ...body, overrides: { [raw(stranger)]: parts } }))).toEqual(plain);
  });

  it('run the given code on the given data', async () => {
    const account = Address.parseRaw(`0:${'6'.repeat(64)}`);
    const [code, data] = [scriptedCode(), scriptedData([[transfer(receiver, 5n)]])];
    const shown = shownIn(
      await setting.emulate({
        boc: messageBetween({ dest: account }),
        ignore_chksig: true,
        overrides: {
          [account.toString()]: { code: base64(code.toBoc()), data: base64(data.toBoc()), balance: '1000000000' },
        },
      }),
    );
    expect(transactionsIn(shown).map((one) => one.account)).toEqual([account, receiver].map(raw));
    expect(transactionsIn(shown)[0]!.account_state_before.code_hash).toBe(code.hash().toString('base64'));
  });

  it.each([
    [[], 'overrides must be an object'],
    [{ nowhere: {} }, 'overrides["nowhere"]: the name is no address'],
    [{ [raw(receiver)]: 5 }, `overrides["${raw(receiver)}"] must be an object`],
    [{ [raw(receiver)]: { nonce: '1' } }, `overrides["${raw(receiver)}"]: the field "nonce" is unknown`],
    [
      { [raw(receiver)]: { balance: (2n ** 120n).toString() } },
      `overrides["${raw(receiver)}"].balance must be a decimal string of at most 120 bits`,
    ],
    [
      { [raw(receiver)]: {}, [receiver.toString()]: {} },
      `overrides["${receiver.toString()}"]: the account is there twice`,
    ],
    [
      Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`0:${at.toString(16).padStart(64, '0')}`, {}])),
      'overrides cannot contain more than 16 accounts',
    ],
  ])('are refused by the name of the wrong field: %j', async (overrides, error) => {
    const { status, body } = await setting.emulate({ boc: jettonMessage(), overrides });
    expect([status, body['error']]).toEqual([422, error]);
  });

  it.each(['code', 'data'])('are refused for %s that is no bag of cells', async (field) => {
    for (const value of ['AAAA', '!', base64(Buffer.alloc(40, 1))]) {
      const overrides = { [raw(receiver)]: { [field]: value } };
      const { status, body } = await setting.emulate({ boc: jettonMessage(), overrides });
      expect(status).toBe(422);
      expect(body['error']).toContain(value === '!' ? 'base64' : `overrides["${raw(receiver)}"].${field}`);
    }
  });
});

describe('a message between accounts', () => {
  it('runs as if it came when signatures are ignored, and is refused otherwise', async () => {
    const boc = messageBetween({ dest: forked.address('jetton_minter') });
    const shown = shownIn(await setting.emulate({ boc, ignore_chksig: true, with_actions: true }));
    expect(transactionsIn(shown)[0]).toMatchObject({ account: raw(forked.address('jetton_minter')) });
    expect(transactionsIn(shown)[0]!.in_msg.source).toBe(raw(receiver));
    const { status, body } = await setting.emulate({ boc });
    expect([status, body['error']]).toEqual([422, 'CommonMsgInfo tag is not ext_in_msg_info']);
  });
});

describe('an emulation', () => {
  it('counts as refused for a fault of the request, as rejected by a contract, and as failed for neither', async () => {
    const counts = (): Promise<number[]> =>
      Promise.all(
        ['refused', 'rejected', 'failed'].map((outcome) =>
          metric(setting.register, 'ton_emulate_runs_total', { outcome }),
        ),
      );
    const before = await counts();
    await setting.emulate({ boc: messageBetween({ dest: receiver }) });
    await setting.emulate({ boc: jettonMessage(), mc_block_seqno: setting.pool.head()!.block.seqno + 1000 });
    await setting.emulateTonConnect({
      from: receiver.toRawString(),
      messages: [{ address: raw(receiver), amount: '1' }],
    });
    await setting.emulate({ boc: base64(forked.wallet('w2').send(5, [transfer(receiver, VALUE)])) });
    const after = await counts();
    expect(after.map((count, at) => count - before[at]!)).toEqual([3, 1, 0]);
  });
});

describe('the block of an emulation', () => {
  it('may be any that lite servers have, with the state and time of that block', async () => {
    const w5 = forked.wallet('w5');
    const boc = base64(w5.send(0, [transfer(receiver, VALUE)]));
    const before = setting.pool.head()!;
    setting.network.send(Buffer.from(boc, 'base64'));
    await setting.step();
    await setting.step();
    const late = await setting.emulate({ boc });
    expect(late.body['error']).toContain('external message was not accepted: exit code');
    const shown = shownIn(await setting.emulate({ boc, mc_block_seqno: before.block.seqno }));
    expect(shown.mc_block_seqno).toBe(before.block.seqno);
    expect(transactionsIn(shown)[0]!.now).toBe(before.utime);
  });

  it('ends before the transactions start', async () => {
    const head = setting.pool.head()!;
    await setting.step();
    const bodies = [
      { boc: base64(forked.wallet('w6').send(0, [transfer(receiver, VALUE)])) },
      { boc: messageBetween({ dest: stranger }), ignore_chksig: true },
    ];
    for (const body of bodies) {
      for (const { block, endLt } of [head, setting.pool.head()!]) {
        const shown = shownIn(await setting.emulate({ ...body, mc_block_seqno: block.seqno }));
        const [first] = transactionsIn(shown);
        expect([first!.lt, BigInt(first!.lt) > endLt]).toEqual([first!.lt, true]);
      }
    }
  });

  it('ends before the logical time that contracts see', async () => {
    const account = { code: base64(storesLogicalTime.toBoc()), balance: '1000000000' };
    const shown = shownIn(
      await setting.emulate({
        boc: messageBetween({ dest: stranger }),
        ignore_chksig: true,
        include_code_data: true,
        overrides: { [raw(stranger)]: account },
      }),
    );
    const [first] = transactionsIn(shown);
    const data = Cell.fromBase64(shown.data_cells[first!.account_state_after.data_hash!]!);
    const seen = data.beginParse().loadUintBig(64);
    expect([seen.toString(), seen > setting.pool.head()!.endLt]).toEqual([first!.lt, true]);
  });

  it('is refused when it is newer than the head', async () => {
    for (const seqno of [setting.pool.head()!.block.seqno + 1000, 2 ** 32 - 1]) {
      const { status, body } = await setting.emulate({ boc: jettonMessage(), mc_block_seqno: seqno });
      expect([status, body['error']]).toEqual([422, 'mc block seqno is too new']);
    }
  });

  it('is refused when it is block 0, as v2 refuses it', async () => {
    const { status, body } = await setting.emulate({ boc: jettonMessage(), mc_block_seqno: 0 });
    expect([status, body['error']]).toEqual([422, 'mc_block_seqno should be positive']);
  });

  it.each([-1, 2 ** 32, 1.5, 'x', {}])('is refused when it is no unsigned integer: %j', async (seqno) => {
    const { status, body } = await setting.emulate({ boc: jettonMessage(), mc_block_seqno: seqno });
    expect([status, body['error']]).toEqual([422, 'mc_block_seqno must be an unsigned integer of 32 bits']);
  });
});

/** `LTIME; NEWC; 64 STU; ENDC; POPCTR c4`. */
const storesLogicalTime = beginCell().storeBuffer(Buffer.from('F825C8CB3FC9ED54', 'hex')).endCell();

describe('a trace that is too large', () => {
  const [one, two] = [Address.parseRaw(`0:${'1'.repeat(64)}`), Address.parseRaw(`0:${'2'.repeat(64)}`)];
  const balance = '1000000000000';
  /** Accounts that answer messages by a script. */
  const scripted = (scripts: ReadonlyMap<Address, readonly Response[]>): object =>
    Object.fromEntries(
      [...scripts].map(([address, script]) => [
        raw(address),
        { balance, code: base64(scriptedCode().toBoc()), data: base64(scriptedData(script).toBoc()) },
      ]),
    );
  const emulateScripts = async (scripts: ReadonlyMap<Address, readonly Response[]>) => {
    const body = { boc: messageBetween({ dest: one }), ignore_chksig: true, overrides: scripted(scripts) };
    return shownIn(await setting.emulate(body));
  };
  const toTwo = transfer(two, 1_000_000_000n);

  const pingPong = async (rounds: number) => {
    const there = Array.from({ length: rounds }, () => [toTwo]);
    const back = Array.from({ length: rounds }, () => [transfer(one, 1_000_000_000n)]);
    const shown = await emulateScripts(
      new Map([
        [one, there],
        [two, back],
      ]),
    );
    return [transactionsIn(shown).length, shown.is_incomplete];
  };

  it('has 256 transactions and is incomplete when it has more', async () => {
    const echo = Array.from({ length: 20 }, () => [transfer(receiver, 5n)]);
    const shown = await emulateScripts(
      new Map([
        [one, [Array.from({ length: 240 }, () => toTwo)]],
        [two, echo],
      ]),
    );
    expect([transactionsIn(shown).length, shown.is_incomplete]).toEqual([256, true]);
  });

  it('ends at the depth of 32 messages and is incomplete when it goes on', async () => {
    // A message more than the rounds ends each exchange.
    expect(await pingPong(15)).toEqual([31, false]);
    expect(await pingPong(17)).toEqual([32, true]);
  });

  it('stops when its contracts use 4,000,000 gas, and is incomplete', async () => {
    const account = { balance, code: base64(endless.toBoc()), data: base64(beginCell().endCell().toBoc()) };
    const many = scripted(new Map([[one, [Array.from({ length: 20 }, () => toTwo)]]]));
    const body = { boc: messageBetween({ dest: one }), ignore_chksig: true };
    const shown = shownIn(await setting.emulate({ ...body, overrides: { ...many, [raw(two)]: account } }));
    // The first transaction sends the messages. Four others use a million each.
    expect([transactionsIn(shown).length, shown.is_incomplete]).toEqual([5, true]);
  });

  it('is refused when its bodies make the answer larger than 16 MiB', async () => {
    const toTwoWithBody = internal({ to: two, value: 1_000_000_000n, body: largeBody() });
    // The messages that the first transaction sends are too large by themselves. A slow thread has no time for many others.
    const overrides = scripted(new Map([[one, [Array.from({ length: 80 }, () => toTwoWithBody)]]]));
    const { status, body } = await setting.emulate({
      boc: messageBetween({ dest: one }),
      ignore_chksig: true,
      overrides,
    });
    expect([status, body['error']]).toEqual([422, 'the answer is larger than 16 MiB']);
  });
});

/** `PUSHCONT <{ NEWC; ENDC; DROP }>; AGAIN`: uses all gas within some milliseconds, because a new cell costs 500. */
const endless = beginCell().storeBuffer(Buffer.from('93C8C930EA', 'hex')).endCell();

/** A body of 1,365 full cells, each with its own place, in a tree of some 172 KB. */
function largeBody(place = 1, levels = 5): Cell {
  const cell = beginCell().storeUint(place, 32).storeBuffer(Buffer.alloc(120, 1));
  if (levels > 0) for (let at = 0; at < 4; at++) cell.storeRef(largeBody(4 * place + at, levels - 1));
  return cell.endCell();
}

describe('a message between accounts that no account could have sent', () => {
  it.each([
    ['without a source', { src: undefined }],
    ['at the last logical time', { createdLt: 2n ** 64n - 1n }],
    ['with more coins than there are', { value: { coins: 2n ** 120n - 1n } }],
  ])('is run or refused, and nothing fails: %s', async (_, info) => {
    const dest = forked.address('jetton_minter');
    const boc = messageBetween({ dest, ...(info as object) });
    const { status } = await setting.emulate({ boc, ignore_chksig: true, with_actions: true });
    expect([200, 422]).toContain(status);
  });
});
