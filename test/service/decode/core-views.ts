import type {
  CommonMessageInfo,
  CurrencyCollection as CoreCurrencies,
  Dictionary,
  Message as CoreMessage,
  StateInit as CoreStateInit,
  Transaction as CoreTransaction,
  TransactionActionPhase,
  TransactionBouncePhase,
  TransactionComputePhase,
  TransactionDescription,
  TransactionStoragePhase,
} from '@ton/core';

// Values of @ton/core in a comparable plain form: hashes as hex, addresses as raw text, cells by their hash.

const hex = (value: bigint): string => value.toString(16).padStart(64, '0');

function currencies(value: CoreCurrencies) {
  const other = value.other as Dictionary<number, bigint> | undefined | null;
  return {
    grams: value.coins,
    extra: other ? other.keys().map((id) => [id | 0, other.get(id)!] as const) : [],
  };
}

function stateInit(init: CoreStateInit) {
  return {
    prefix: init.splitDepth ?? undefined,
    special: init.special ? { tick: init.special.tick, tock: init.special.tock } : undefined,
    code: init.code?.hash().toString('hex'),
    data: init.data?.hash().toString('hex'),
  };
}

function messageInfo(info: CommonMessageInfo) {
  switch (info.type) {
    case 'internal':
      return {
        kind: 'internal',
        flags: [info.ihrDisabled, info.bounce, info.bounced],
        source: info.src.toRawString(),
        destination: info.dest.toRawString(),
        value: currencies(info.value),
        fees: [info.ihrFee, info.forwardFee],
        created: [info.createdLt, info.createdAt],
      };
    case 'external-in':
      return {
        kind: 'externalIn',
        source: info.src ? `${info.src.bits}:${info.src.value}` : undefined,
        destination: info.dest.toRawString(),
        fees: [info.importFee],
      };
    default:
      return {
        kind: 'externalOut',
        source: info.src.toRawString(),
        destination: info.dest ? `${info.dest.bits}:${info.dest.value}` : undefined,
        created: [info.createdLt, info.createdAt],
      };
  }
}

export function coreMessage(message: CoreMessage) {
  return {
    info: messageInfo(message.info),
    init: message.init ? stateInit(message.init) : undefined,
    body: message.body.hash().toString('hex'),
  };
}

function storagePhase(phase: TransactionStoragePhase | null | undefined) {
  return phase ? [phase.storageFeesCollected, phase.storageFeesDue ?? undefined, phase.statusChange] : undefined;
}

function computePhase(phase: TransactionComputePhase) {
  if (phase.type === 'skipped') return { skipped: phase.reason.replaceAll('-', '_') };
  return {
    flags: [phase.success, phase.messageStateUsed, phase.accountActivated],
    gas: [phase.gasFees, Number(phase.gasUsed), Number(phase.gasLimit), Number(phase.gasCredit ?? -1)],
    exit: [phase.mode, phase.exitCode, phase.exitArg ?? undefined, phase.vmSteps],
    hashes: [hex(phase.vmInitStateHash), hex(phase.vmFinalStateHash)],
  };
}

function actionPhase(phase: TransactionActionPhase | null | undefined) {
  if (!phase) return undefined;
  return {
    flags: [phase.success, phase.valid, phase.noFunds, phase.statusChange],
    fees: [phase.totalFwdFees ?? undefined, phase.totalActionFees ?? undefined],
    result: [phase.resultCode, phase.resultArg ?? undefined],
    counts: [phase.totalActions, phase.specActions, phase.skippedActions, phase.messagesCreated],
    hash: hex(phase.actionListHash),
    size: [Number(phase.totalMessageSize.cells), Number(phase.totalMessageSize.bits)],
  };
}

function bouncePhase(phase: TransactionBouncePhase | null | undefined) {
  if (!phase) return undefined;
  if (phase.type === 'negative-funds') return { kind: 'negativeFunds' };
  const size = [Number(phase.messageSize.cells), Number(phase.messageSize.bits)];
  if (phase.type === 'no-funds') return { kind: 'noFunds', size, fees: [phase.requiredForwardFees] };
  return { kind: 'ok', size, fees: [phase.messageFees, phase.forwardFees] };
}

const kinds = {
  generic: 'ordinary',
  storage: 'storage',
  'tick-tock': 'tickTock',
  'split-prepare': 'splitPrepare',
  'split-install': 'splitInstall',
  'merge-prepare': 'mergePrepare',
  'merge-install': 'mergeInstall',
} as const;

/** Returns every field that any constructor has; missing fields are undefined. */
export function coreDescr(descr: TransactionDescription): object {
  const all = descr as TransactionDescription & Partial<Record<string, unknown>>;
  const split = 'splitInfo' in descr ? descr.splitInfo : undefined;
  const credit = 'creditPhase' in descr ? descr.creditPhase : undefined;
  return {
    kind: kinds[descr.type],
    flags: [all['creditFirst'], all['isTock'], all['aborted'], all['destroyed'], all['installed']],
    split: split && [
      split.currentShardPrefixLength,
      split.accountSplitDepth,
      hex(split.thisAddress),
      hex(split.siblingAddress),
    ],
    prepare: 'prepareTransaction' in descr ? descr.prepareTransaction.hash().toString('hex') : undefined,
    storage: 'storagePhase' in descr ? storagePhase(descr.storagePhase) : undefined,
    credit: credit ? [credit.dueFeesColelcted ?? undefined, currencies(credit.credit)] : undefined,
    compute: 'computePhase' in descr ? computePhase(descr.computePhase) : undefined,
    action: 'actionPhase' in descr ? actionPhase(descr.actionPhase) : undefined,
    bounce: 'bouncePhase' in descr ? bouncePhase(descr.bouncePhase) : undefined,
  };
}

const statuses = {
  uninitialized: 'uninit',
  frozen: 'frozen',
  active: 'active',
  'non-existing': 'nonexist',
} as const;

export function coreTransaction(transaction: CoreTransaction) {
  return {
    account: hex(transaction.address),
    lt: transaction.lt,
    previous: [hex(transaction.prevTransactionHash), transaction.prevTransactionLt],
    utime: transaction.now,
    outCount: transaction.outMessagesCount,
    statuses: [statuses[transaction.oldStatus], statuses[transaction.endStatus]],
    in: transaction.inMessage ? coreMessage(transaction.inMessage) : undefined,
    out: transaction.outMessages.values().map(coreMessage),
    fees: currencies(transaction.totalFees),
    update: [transaction.stateUpdate.oldHash, transaction.stateUpdate.newHash].map((hash) => hash.toString('hex')),
    descr: coreDescr(transaction.description),
  };
}
