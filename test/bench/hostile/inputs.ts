import { beginCell, type Cell } from '@ton/core';

import { silentCode } from '#test/support/scripted-contract.ts';
import { sharedDictionary } from '#test/support/shared-cells.ts';

import { endless } from './vm-shares.ts';

/** A request of a caller that makes the service work; `body` makes it a POST. */
export type HostileRequest = { readonly path: string; readonly body?: unknown };

/** Input that a caller or a contract gives to make others wait. */
export type HostileInput = {
  readonly name: string;
  /** Code of the account that the request names. */
  readonly code?: Cell;
  /** @param account raw address of the account with the code */
  readonly request: (account: string) => HostileRequest;
};

/** Keys of 32 bits, as many as 16 levels count, lead to one chunk of one byte that is no text; 16 values share them. */
function contentWithSharedChunks(): Cell {
  const chunks = sharedDictionary(32, 16, beginCell().storeRef(beginCell().storeUint(0xff, 8)));
  const value = beginCell().storeUint(1, 8).storeBit(true).storeRef(chunks);
  const values = sharedDictionary(256, 4, beginCell().storeRef(value));
  return beginCell().storeUint(0, 8).storeBit(true).storeRef(values).endCell();
}

/** 1,024 records of an unknown kind share a tree of 1,000 cells. */
function recordsWithSharedTree(): Cell {
  // A node has the nodes 4n + 1 to 4n + 4 below it: a chain would be too deep for a block.
  const nodes: Cell[] = [];
  for (let at = 999; at >= 0; at--) {
    const node = beginCell().storeUint(at, 64);
    for (const below of [1, 2, 3, 4]) if (nodes[4 * at + below] !== undefined) node.storeRef(nodes[4 * at + below]!);
    nodes[at] = node.endCell();
  }
  return sharedDictionary(256, 10, beginCell().storeRef(beginCell().storeUint(7, 16).storeRef(nodes[0]!)));
}

/** 256 steps of an order share two dictionaries of 256 addresses. */
export function orderWithSharedMembers(): Cell {
  const address = beginCell().storeUint(4, 3).storeInt(0, 8).storeBuffer(Buffer.alloc(32, 1));
  const members = sharedDictionary(8, 8, address);
  const step = beginCell().storeUint(0x1d0cfbd3, 32).storeUint(1, 8);
  return sharedDictionary(8, 8, beginCell().storeRef(step.storeRef(members).storeBit(true).storeRef(members)));
}

/** A claim of rewards in 262,144 jettons. */
function claimWithSharedJettons(): Cell {
  const jettons = sharedDictionary(267, 18, beginCell().storeCoins(1));
  return beginCell().storeUint(0x78d9f109, 32).storeUint(1, 64).storeBit(true).storeRef(jettons).endCell();
}

/** `library_cell#02 hash:bits256`, as a slice: no bag of an ordinary cell. */
const exoticSlice = 'te6cckEBAQEAIwAIQgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwOZXDzeg=';

/** `DROP; PUSHNULL`, then 8,000 times `PUSHINT 1; SWAP; 2 TUPLE`: a list. */
const longList = beginCell().storeBuffer(Buffer.from('306d811f409471016f02e4', 'hex')).endCell();

function run(account: string, stack: readonly unknown[]): HostileRequest {
  return { path: '/api/v2/runGetMethod', body: { address: account, method: 'any', stack } };
}

/** Runs are distinct by an argument, so that none is answered from a cache. */
let runs = 0;
const argument = (): readonly [string, string] => ['num', `${++runs}`];

/** One input a row; orders come from the index, which has them beside the contracts. */
export const hostileInputs: readonly HostileInput[] = [
  {
    name: 'token content of shared chunks',
    code: silentCode({ get_jetton_data: { gives: [1n, -1n, null, contentWithSharedChunks(), beginCell().endCell()] } }),
    request: (account) => ({ path: `/api/v2/getTokenData?address=${account}` }),
  },
  {
    name: 'DNS records of a shared tree',
    code: silentCode({ dnsresolve: { takes: 2, gives: [8n, recordsWithSharedTree()] } }),
    request: (account) => ({ path: `/api/v2/dnsResolve?address=${account}&name=.` }),
  },
  {
    name: 'orders of shared members',
    request: () => ({ path: '/api/v3/multisig/orders?limit=20&parse_actions=true' }),
  },
  {
    name: 'claim of shared jettons',
    request: () => ({
      path: '/api/v3/decode',
      body: { bodies: [claimWithSharedJettons().toBoc().toString('base64')] },
    }),
  },
  {
    name: '8,000 arguments',
    code: silentCode({}),
    request: (account) => run(account, Array.from({ length: 8000 }, argument)),
  },
  { name: 'list of 8,000 in a result', code: longList, request: (account) => run(account, [argument()]) },
  {
    name: 'exotic root as a slice',
    code: silentCode({}),
    request: (account) => run(account, [argument(), ['tvm.Slice', exoticSlice]]),
  },
  {
    name: 'exotic root as a body',
    code: silentCode({}),
    request: (account) => ({
      path: '/api/v2/estimateFee',
      body: { address: account, body: exoticSlice, ignore_chksig: true },
    }),
  },
  { name: 'endless get-method', code: endless, request: (account) => run(account, [argument()]) },
];
