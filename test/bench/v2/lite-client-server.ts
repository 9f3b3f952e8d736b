import { once } from 'node:events';

import { Address, Cell, loadTransaction } from '@ton/core';
import { fastify } from 'fastify';
import { LiteClient, LiteSingleEngine } from 'ton-lite-client';

import { serve } from './serving.ts';

/** How often it asks for the head, as ton-api-v4 does. */
const headEveryMs = 500;

// The usual way to serve lite-server data from TypeScript: ton-lite-client and @ton/core in fastify handlers. With `proving` as
// its argument it reads every account anew and checks the proofs, as the service must; without, it takes the lite server's word
// and keeps parsed accounts for a block, as ton-api-v4 does.
const isProving = process.argv[2] === 'proving';

serve(async ({ liteServer }) => {
  const engine = new LiteSingleEngine({
    host: `tcp://${liteServer.host}:${liteServer.port}`,
    publicKey: Buffer.from(liteServer.publicKey, 'hex'),
  });
  await once(engine, 'ready');
  const client = new LiteClient({ engine });
  let head = await client.getMasterchainInfo();
  const timer = setInterval(() => {
    void client.getMasterchainInfo().then((info) => (head = info));
  }, headEveryMs);

  const app = fastify();
  app.get('/getMasterchainInfo', () => ({
    ok: true,
    result: { last: viewBlock(head.last), init: viewBlock(head.init) },
  }));
  app.get<{ Querystring: { address: string } }>('/getAddressInformation', async ({ query }) => {
    const { last } = head;
    const address = Address.parse(query.address);
    const read = isProving
      ? await client.getAccountStateRaw(address, last)
      : await client.getAccountState(address, last);
    if (isProving) checkProofs(last.rootHash, read);
    const { state, balance, lastTx } = read;
    const stored = state?.storage.state;
    const active = stored?.type === 'active' ? stored.state : undefined;
    return {
      ok: true,
      result: {
        '@type': 'raw.fullAccountState',
        balance: balance.coins.toString(),
        last_transaction_id: { lt: (lastTx?.lt ?? 0n).toString(), hash: lastTx?.hash.toString(16) },
        block_id: viewBlock(last),
        code: active?.code?.toBoc().toString('base64') ?? '',
        data: active?.data?.toBoc().toString('base64') ?? '',
        state: stored?.type ?? 'uninit',
      },
    };
  });
  app.get<{ Querystring: { address: string; limit: string } }>('/getTransactions', async ({ query }) => {
    const address = Address.parse(query.address);
    const { lastTx } = await client.getAccountState(address, head.last);
    if (lastTx === null) return { ok: true, result: [] };
    const hash = Buffer.from(lastTx.hash.toString(16).padStart(64, '0'), 'hex');
    const found = await client.getAccountTransactions(address, lastTx.lt.toString(), hash, Number(query.limit));
    return { ok: true, result: Cell.fromBoc(found.transactions).map((cell) => viewTransaction(cell)) };
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url,
    key: '',
    close: async () => {
      clearInterval(timer);
      engine.close();
      await app.close();
    },
  };
});

type AccountAnswer = Awaited<ReturnType<LiteClient['getAccountStateRaw']>>;

/** The hashes of both blocks and both states; the way down to shard and account is left out, in its favour. */
function checkProofs(rootHash: Buffer, { proof, shardProof, shardBlock }: AccountAnswer): void {
  if (shardProof.length > 0) checkBlockAndState(rootHash, shardProof);
  checkBlockAndState(shardBlock.rootHash, proof);
}

/** Two Merkle proofs: of the block, whose update names the state, and of the state. */
function checkBlockAndState(rootHash: Buffer, proofs: Buffer): void {
  const [block, state] = Cell.fromBoc(proofs).map((proof) => proof.refs[0]!);
  // Behind its tag, an update has the hash before and the hash after.
  const update = block!.refs[2]!.beginParse(true).skip(8 + 256);
  const isRight = block!.hash(0).equals(rootHash) && state!.hash(0).equals(update.loadBuffer(32));
  if (!isRight) throw new Error('a proof does not hold');
}

type Block = Awaited<ReturnType<LiteClient['getMasterchainInfo']>>['last'];

type Zerostate = Awaited<ReturnType<LiteClient['getMasterchainInfo']>>['init'];

function viewBlock(block: Block | Zerostate): object {
  return {
    ...block,
    rootHash: block.rootHash.toString('base64'),
    fileHash: block.fileHash.toString('base64'),
  };
}

function viewTransaction(cell: Cell): object {
  const transaction = loadTransaction(cell.beginParse());
  const { inMessage, outMessages, totalFees } = transaction;
  const messages = [...(inMessage ? [inMessage] : []), ...outMessages.values()];
  return {
    utime: transaction.now,
    data: cell.toBoc().toString('base64'),
    transaction_id: { lt: transaction.lt.toString(), hash: transaction.hash().toString('base64') },
    fee: totalFees.coins.toString(),
    messages: messages.map(({ info, body }) => ({
      source: info.src?.toString() ?? '',
      destination: info.dest?.toString() ?? '',
      value: info.type === 'internal' ? info.value.coins.toString() : '0',
      body_hash: body.hash().toString('base64'),
      body: body.toBoc().toString('base64'),
    })),
  };
}
