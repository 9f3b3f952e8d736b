import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { listExtraCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { MessageAddress } from '#service/decode/tlb/message-address.ts';
import { storeBody } from '#service/decode/tlb/message.ts';
import type { Message, MessageInfo } from '#service/decode/tlb/message.ts';
import type { StateInit } from '#service/decode/tlb/state-init.ts';
import type { TransactionDescr } from '#service/decode/tlb/transaction-descr.ts';
import type { ActionPhase, BouncePhase, ComputePhase, StoragePhase } from '#service/decode/tlb/transaction-phases.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';

// Values of this project's readers, in the shape of core-views.ts.

function currencies(table: CellTable, value: CurrencyCollection) {
  return { grams: value.grams, extra: listExtraCurrencies(table, value.extra).map(({ id, amount }) => [id, amount]) };
}

function address(value: MessageAddress | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value.kind === 'internal') return `${value.workchain}:${value.id.toString('hex')}`;
  const padding = BigInt(value.bits.length * 8 - value.bitLength);
  const number = value.bitLength === 0 ? 0n : BigInt(`0x${value.bits.toString('hex')}`) >> padding;
  return `${value.bitLength}:${number}`;
}

function stateInit(table: CellTable, init: StateInit) {
  const hash = (cell: number | undefined) => (cell === undefined ? undefined : table.hash(cell).toString('hex'));
  return { prefix: init.fixedPrefixLength, special: init.special, code: hash(init.code), data: hash(init.data) };
}

function messageInfo(table: CellTable, info: MessageInfo) {
  const [source, destination] = [address(info.source), address(info.destination)];
  switch (info.kind) {
    case 'internal':
      return {
        kind: info.kind,
        flags: [info.ihrDisabled, info.bounce, info.bounced],
        source,
        destination,
        value: currencies(table, info.value),
        fees: [info.extraFlags, info.forwardFee],
        created: [info.createdLt, info.createdAt],
      };
    case 'externalIn':
      return { kind: info.kind, source, destination, fees: [info.importFee] };
    default:
      return { kind: info.kind, source, destination, created: [info.createdLt, info.createdAt] };
  }
}

export function ourMessage(table: CellTable, message: Message) {
  const store = createCellStore();
  return {
    info: messageInfo(table, message.info),
    init: message.init?.state && stateInit(table, message.init.state),
    body: store.hash(storeBody(store, table, message.body)).toString('hex'),
  };
}

function storagePhase(phase: StoragePhase | undefined) {
  return phase && [phase.feesCollected, phase.feesDue, phase.statusChange];
}

function computePhase(phase: ComputePhase) {
  if (phase.kind === 'skipped') return { skipped: phase.reason };
  return {
    flags: [phase.success, phase.messageStateUsed, phase.accountActivated],
    gas: [phase.gasFees, phase.gasUsed, phase.gasLimit, phase.gasCredit ?? -1],
    exit: [phase.mode, phase.exitCode, phase.exitArg, phase.vmSteps],
    hashes: [phase.vmInitStateHash.toString('hex'), phase.vmFinalStateHash.toString('hex')],
  };
}

function actionPhase(phase: ActionPhase | undefined) {
  if (!phase) return undefined;
  return {
    flags: [phase.success, phase.valid, phase.noFunds, phase.statusChange],
    fees: [phase.totalForwardFees, phase.totalActionFees],
    result: [phase.resultCode, phase.resultArg],
    counts: [phase.totalActions, phase.specialActions, phase.skippedActions, phase.messagesCreated],
    hash: phase.actionListHash.toString('hex'),
    size: [phase.totalMessageSize.cells, phase.totalMessageSize.bits],
  };
}

function bouncePhase(phase: BouncePhase | undefined) {
  if (phase === undefined || phase.kind === 'negativeFunds') return phase;
  const size = [phase.messageSize.cells, phase.messageSize.bits];
  if (phase.kind === 'noFunds') return { kind: phase.kind, size, fees: [phase.requiredForwardFees] };
  return { kind: phase.kind, size, fees: [phase.messageFees, phase.forwardFees] };
}

export function ourDescr(table: CellTable, descr: TransactionDescr): object {
  const all = descr as TransactionDescr & Partial<Record<string, unknown>>;
  const split = 'splitInfo' in descr ? descr.splitInfo : undefined;
  const credit = 'credit' in descr ? descr.credit : undefined;
  return {
    kind: descr.kind,
    flags: [all['creditFirst'], all['isTock'], all['aborted'], all['destroyed'], all['installed']],
    split: split && [
      split.shardPrefixBits,
      split.splitDepth,
      split.thisAddress.toString('hex'),
      split.siblingAddress.toString('hex'),
    ],
    prepare: 'prepareTransaction' in descr ? table.hash(descr.prepareTransaction).toString('hex') : undefined,
    storage: 'storage' in descr ? storagePhase(descr.storage) : undefined,
    credit: credit && [credit.dueFeesCollected, currencies(table, credit.credit)],
    compute: 'compute' in descr ? computePhase(descr.compute) : undefined,
    action: 'action' in descr ? actionPhase(descr.action) : undefined,
    bounce: 'bounce' in descr ? bouncePhase(descr.bounce) : undefined,
  };
}

export function ourTransaction(table: CellTable, transaction: Transaction) {
  return {
    account: transaction.account.toString('hex'),
    lt: transaction.lt,
    previous: [transaction.prevHash.toString('hex'), transaction.prevLt],
    utime: transaction.utime,
    outCount: transaction.outMessageCount,
    statuses: [transaction.originalStatus, transaction.endStatus],
    in: transaction.inMessage && ourMessage(table, transaction.inMessage),
    out: transaction.outMessages.map((message) => ourMessage(table, message)),
    fees: currencies(table, transaction.totalFees),
    update: [transaction.stateUpdate.oldHash, transaction.stateUpdate.newHash].map((hash) => hash.toString('hex')),
    descr: ourDescr(table, transaction.descr),
  };
}
