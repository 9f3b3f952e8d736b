import { createHash } from 'node:crypto';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { runSmcMethod } from '#service/liteserver/functions.ts';
import type { RunMethodResult } from '#service/liteserver/tl/lite-api.ts';
import { encodeStackEntry } from '#service/tvm/stack-writer.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { sliceEntry } from '#service/tvm/stack.ts';
import { locateAccount } from './account-queries.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { parseClientBoc } from './client-boc.ts';
import type { MethodRunner } from './method-runner.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import { previousBlocksInfo } from '../chain/previous-blocks-info.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { VisitedCells } from '../collator/visited-cells.ts';
import { openMasterchainState, openState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Bits of `mode` (service/liteserver/README.md#mode-bits). */
const [PROOFS, STATE_PROOF, RESULT, INIT_C7, LIB_EXTRAS, FULL_C7] = [1, 2, 4, 8, 16, 32] as const;
const MODES = 63;

const PARAMS_BYTES_MAX = 65_535;

/** Exit code for an account that has no code to run. */
const NO_CODE = -256;

/** First number of the contract's context: `smc_info#076ef1ea`. */
const SMC_INFO = 0x076ef1ean;

/** Runs a get-method on an account as it stood in a block. */
function answerRunMethod(view: ChainView, args: ArgsOf<typeof runSmcMethod>, runner: MethodRunner): RunMethodResult {
  const { mode, params } = args;
  if ((mode & ~MODES) !== 0) throw refusal(serverCode.fatal, 'unsupported mode in runSmcMethod');
  if (params.length > PARAMS_BYTES_MAX) throw refusal(serverCode.fatal, 'more than 64k parameter bytes passed');
  const bag = params.length === 0 ? undefined : parseClientBoc(params);
  if (bag !== undefined && 'problem' in bag) {
    throw refusal(serverCode.fatal, `cannot deserialize parameter list boc: [Error : 0 : ${bag.problem}]`);
  }
  const { id, shardBlock, shardProof, proof, cell } = locateAccount(view, args.id, args.account, 'runSmcMethod');
  const { states } = view.chain;
  const proofs = (mode & PROOFS) === 0 ? {} : { shardProof, proof };
  const account = cell === undefined ? undefined : readAccount(states, cell);
  const init = account?.state.kind === 'active' ? account.state.init : undefined;
  const block = view.chain.find(shardBlock);
  if (cell === undefined || init?.code === undefined || block === undefined) {
    const stateProof = (mode & STATE_PROOF) === 0 ? {} : { stateProof: Buffer.alloc(0) };
    const result = (mode & RESULT) === 0 ? {} : { result: Buffer.alloc(0) };
    return { mode, id, shardBlock, ...proofs, ...stateProof, exitCode: NO_CODE, ...result };
  }
  const world = worldOf(view, block, account!);
  const ran = run(runner, {
    ...world,
    states,
    code: init.code,
    data: init.data,
    workchain: args.account.workchain,
    id: args.account.id,
    methodId: args.methodId,
    params,
  });
  return {
    mode,
    id,
    shardBlock,
    ...proofs,
    ...((mode & STATE_PROOF) !== 0 && { stateProof: proveWhole(view, cell) }),
    ...((mode & INIT_C7) !== 0 && { initC7: initialC7(view, block, account!, world, (mode & FULL_C7) !== 0) }),
    ...((mode & LIB_EXTRAS) !== 0 && { libExtras: Buffer.alloc(0) }),
    exitCode: ran.exitCode,
    ...((mode & RESULT) !== 0 && { result: rewrite(ran.stack) }),
  };
}

/** The cells that the virtual machine touched are not recorded, so the proof shows all cells. */
function proveWhole({ chain }: ChainView, cell: number): Buffer {
  const tree = new VisitedCells(chain.states, cell);
  tree.openAll(cell);
  return answerBoc(tree);
}

function rewrite(stack: Buffer): Buffer {
  const boc = parseBoc(stack);
  return answerBoc({ table: boc, cell: boc.roots[0]! });
}

function run(runner: MethodRunner, call: Parameters<MethodRunner['run']>[0]): ReturnType<MethodRunner['run']> {
  try {
    return runner.run(call);
  } catch (error) {
    throw refusal(serverCode.fatal, `cannot run the method : ${(error as Error).message}`);
  }
}

type World = ReturnType<typeof worldOf>;

/** Returns the configuration of the masterchain block that a shard block refers to, and the block's own time. */
function worldOf(view: ChainView, block: ChainBlock, account: Account) {
  const { chain } = view;
  const seqno = block.id.workchain === MASTERCHAIN ? block.id.seqno : block.masterchainSeqno;
  const top = chain.masterchain(seqno)!;
  const { config } = openMasterchainState(chain.states, top.state);
  const { libraries } = openState(chain.states, top.state);
  return {
    config: config.root,
    libraries,
    balance: account.balance.grams,
    utime: block.header.utime,
    // The node's seed is random in every run. This seed is the same for the same block.
    randSeed: createHash('sha256').update(block.id.rootHash).digest(),
    previousBlocks: previousBlocksInfo(chain, seqno),
  };
}

/** Returns the tuple of the contract's initial context, in register 7. */
function initialC7(view: ChainView, block: ChainBlock, account: Account, world: World, isFull: boolean): Buffer {
  const { states } = view.chain;

  const store = createCellStore();
  const address = writeStandardAddress(new BitWriter(), account.address).finish(store);
  const { extra } = account.balance;
  const extras: StackEntry = extra === undefined ? { type: 'null' } : { type: 'cell', table: states, cell: extra };
  const items: StackEntry[] = [
    int(SMC_INFO),
    int(0),
    int(0),
    int(world.utime),
    int(block.header.endLt),
    int(block.header.endLt),
    int(BigInt(`0x${world.randSeed.toString('hex')}`)),
    { type: 'tuple', items: [int(world.balance), extras] },
    sliceEntry({ table: store, cell: address }),
    isFull ? { type: 'cell', table: states, cell: world.config } : { type: 'null' },
  ];
  return encodeStackEntry({ type: 'tuple', items: [{ type: 'tuple', items }] });
}

function int(value: bigint | number): StackEntry {
  return { type: 'int', value: BigInt(value) };
}

/** Handlers of get-methods. */
export const methodQueries = {
  runSmcMethod: (view, args, { methods }) => answerRunMethod(view, args, methods),
} satisfies Partial<QueryHandlers>;
