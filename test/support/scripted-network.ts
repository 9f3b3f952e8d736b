import { Address, internal, loadStateInit, type MessageRelaxed } from '@ton/core';

import type { Classified } from '#service/actions/classify.ts';
import { eventTransaction } from '#service/actions/engine/event-transaction.ts';
import type { ClassifierTrace, EventTransaction } from '#service/actions/engine/classifier-input.ts';
import type { Action } from '#service/actions/engine/action-rows.ts';
import { parseAddress } from '#service/decode/address.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import type { AccountEdit } from '#service/devchain/collator/state-edits.ts';
import { accountAt, hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import type { Step } from './event-traces.ts';
import { startForkedNetwork, type ForkedNetwork } from './forked-network.ts';
import { openDetection } from './detection.ts';
import { putAccount } from './put-account.ts';
import {
  electorCode,
  scriptedCode,
  scriptedData,
  tickingCode,
  type Methods,
  type Response,
} from './scripted-contract.ts';

/** What a scene came to. */
export type Scene = Classified & {
  readonly trace: ClassifierTrace;
  /** Without plain messages and deployments. */
  readonly meant: readonly Action[];
};

/** A network on which a test plays scenes, and finds out what they mean from its blocks and contracts. */
export type ScriptedNetwork = ForkedNetwork & {
  /** Puts a stand-in at an account, raw, which answers so to get-methods. */
  place(account: string, methods: Methods): Promise<void>;
  /**
   * Has a wallet of the recording send messages, which accounts that have no contract of their own answer by the steps, and tells what it came to when
   * no message is on its way any more.
   */
  act(wallet: string, steps: readonly Step[]): Promise<Scene>;
  /** Has the elector, or what stands in for it, send messages at the beginning of a masterchain block. */
  tick(steps: readonly Step[]): Promise<Scene>;
  /** Moves the network's clock on. */
  wait(seconds: number): Promise<void>;
  close(): Promise<void>;
};

export const elector = `-1:${'3'.repeat(64)}`;

const plainTypes: ReadonlySet<string> = new Set(['call_contract', 'ton_transfer', 'contract_deploy']);

export async function startScriptedNetwork(): Promise<ScriptedNetwork> {
  const forked = await startForkedNetwork();
  const { network } = forked;
  const looking = openDetection(network);
  const standIns = new Map<string, Methods>();
  const seqnos = new Map<string, number>();

  const headSeqno = (): number => network.head().id.seqno;

  /** Makes blocks until no message is on its way, and tells what the transaction led to that the first one of them has. */
  async function play(from: number, isRoot: (transaction: EventTransaction) => boolean): Promise<Scene> {
    while (hasMessagesOnTheWay(network.chain, network.head())) await network.step();
    const all = transactionsSince(network.chain, from);
    const root = all.find(isRoot);
    if (root === undefined) throw new Error('no block has what the scene begins with');
    const trace = traceOf(root, all);
    const classified = await looking.classify(trace, from);
    return { ...classified, trace, meant: classified.actions.filter(({ type }) => !plainTypes.has(type)) };
  }

  /** Stand-ins for all who are to answer and have no contract of their own. */
  function castOf(steps: readonly Step[]): AccountEdit[] {
    const scripts = [...scriptsOf(steps)].filter(([account]) => !isOwnContract(account));
    for (const [account] of scripts) if (!standIns.has(account)) standIns.set(account, {});
    return scripts.map(([account, script]) => standIn(account, standIns.get(account)!, script));
  }

  async function place(account: string, methods: Methods): Promise<void> {
    standIns.set(account, methods);
    await network.step([standIn(account, methods, [])]);
  }

  function isOwnContract(account: string): boolean {
    return !standIns.has(account) && accountAt(network.chain, network.head(), parseAddress(account)!) !== undefined;
  }

  return {
    ...forked,
    place,
    async act(name, steps) {
      await network.step(castOf(steps));
      const from = headSeqno();
      const seqno = seqnos.get(name) ?? 0;
      seqnos.set(name, seqno + 1);
      const message = forked.wallet(name).send(seqno, steps.map(messageOf));
      network.send(message);
      await network.step();
      const hash = readExternalMessage(message).hash.toString('base64');
      return play(from, ({ inMessage }) => inMessage?.hash === hash);
    },
    async tick(steps) {
      const from = headSeqno();
      standIns.set(elector, {});
      const ticking = { code: tickingCode(), data: scriptedData([steps.map(messageOf)]) };
      await network.step([putAccount(parseAddress(elector)!, ticking), ...castOf(steps)]);
      return play(from, ({ kind, account }) => kind === 'tick_tock' && account === elector);
    },
    wait: async (seconds) => void (await network.advance(seconds)),
    async close() {
      await looking.close();
      await network.close();
    },
  };
}

/** Transactions of the blocks after a masterchain block. */
function transactionsSince(chain: Chain, seqno: number): readonly EventTransaction[] {
  const blocks = [MASTERCHAIN, 0].flatMap((workchain) => chain.along(workchain, FULL_SHARD));
  return blocks
    .filter(({ masterchainSeqno }) => masterchainSeqno > seqno)
    .flatMap((block) => {
      const table = chain.parse(block);
      const place = { workchain: block.id.workchain, mcSeqno: block.masterchainSeqno };
      return readBlockTransactions(table, table.roots[0]!).map((transaction) =>
        eventTransaction({ table, transaction, ...place }),
      );
    });
}

function standIn(account: string, methods: Methods, script: readonly Response[]): AccountEdit {
  const code = account === elector ? electorCode(methods) : scriptedCode(methods);
  return putAccount(parseAddress(account)!, { code, data: scriptedData(script) });
}

function messageOf({ to, value = 1_000_000_000n, body, init }: Step): MessageRelaxed {
  return internal({
    to: Address.parse(to),
    value,
    bounce: true,
    body,
    ...(init && { init: loadStateInit(init.beginParse()) }),
  });
}

/** What each account does, message after message, in the order in which a trace comes by; those that a message deploys bring their own code. */
function scriptsOf(steps: readonly Step[]): Map<string, Response[]> {
  const scripts = new Map<string, Response[]>();
  const open = [...steps];
  for (const { to, aborted = false, sends = [], init } of open) {
    open.push(...sends);
    if (init !== undefined) continue;
    const script = scripts.get(to) ?? [];
    script.push(aborted ? 'abort' : sends.map(messageOf));
    scripts.set(to, script);
  }
  return scripts;
}

/** A transaction and those that it led to. */
function traceOf(root: EventTransaction, all: readonly EventTransaction[]): ClassifierTrace {
  const byMessage = new Map(all.map((transaction) => [transaction.inMessage?.hash, transaction]));
  const transactions = [root];
  for (const { outMessages } of transactions) {
    for (const { hash } of outMessages) {
      const next = byMessage.get(hash);
      if (next !== undefined) transactions.push(next);
    }
  }
  transactions.sort((a, b) => (a.lt === b.lt ? (a.account < b.account ? -1 : 1) : a.lt < b.lt ? -1 : 1));
  const last = transactions.at(-1)!;
  const externalHash = root.inMessage?.hash ?? null;
  return {
    traceId: root.hash,
    externalHash,
    externalHashNorm: externalHash,
    endLt: last.lt,
    endUtime: last.utime,
    mcSeqnoEnd: Math.max(...transactions.map(({ mcSeqno }) => mcSeqno)),
    transactions,
  };
}
