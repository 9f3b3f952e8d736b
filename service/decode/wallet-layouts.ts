import type { CellSlice, ContractSlice } from './cell-slice.ts';

/** Readers of fields of a wallet's data. */
const readers = {
  bit: (slice: ContractSlice) => slice.bit(),
  uint32: (slice: ContractSlice) => slice.uint(32),
  int32: (slice: ContractSlice) => slice.int(32),
} as const;

/** Layout of a wallet's data. The rest of the data is not read. */
export type WalletDataLayout = {
  /** Name of the layout in the document of v2. */
  readonly schema: string;
  /** First fields of the data, in their order. */
  readonly fields: {
    readonly isSignatureAllowed?: 'bit';
    readonly seqno: 'uint32';
    readonly walletId?: 'uint32' | 'int32';
  };
};

/** Layouts of wallets' data, in the order of the document of v2. */
export const walletDataLayouts = {
  seqno: { schema: 'WalletV1V2', fields: { seqno: 'uint32' } },
  seqno_id: { schema: 'WalletV3V4', fields: { seqno: 'uint32', walletId: 'uint32' } },
  /**
   * `seqno:uint33 wallet_id:uint80`, read as v5 r1: indexers take the seqno's first bit for the flag (service/v3/README.md#wallet-states). The id is
   * the first 32 bits of 80.
   */
  v5_beta: { schema: 'WalletV5Beta', fields: { isSignatureAllowed: 'bit', seqno: 'uint32', walletId: 'uint32' } },
  v5: { schema: 'WalletV5', fields: { isSignatureAllowed: 'bit', seqno: 'uint32', walletId: 'int32' } },
} as const satisfies Readonly<Record<string, WalletDataLayout>>;

/** Name of a layout of data. */
export type WalletData = keyof typeof walletDataLayouts;

/** Fields of a wallet's data. A field that the layout does not have is absent. */
export type WalletFields = {
  readonly seqno: number;
  readonly walletId?: number;
  readonly isSignatureAllowed?: boolean;
};

/** Reads a wallet's data. Throws DecodeError. */
export function readWalletData(data: WalletData, slice: ContractSlice): WalletFields {
  const fields = Object.entries(walletDataLayouts[data].fields);
  const read = fields.map(([name, kind]) => [name, readers[kind](slice)] as const);
  // The type of a layout gives each field its kind.
  return Object.fromEntries(read) as unknown as WalletFields;
}

/** Parts of a signed external message that have a width of their own, in bits. */
const partBits = {
  signature: 512,
  /** `external_signed#7369676e`. */
  externalSigned: 32,
  seqno: 32,
  /** The unsigned and the signed form have equal bits. */
  walletId: 32,
  validUntil: 32,
  /** Eight zeros: the operation is a plain transfer. */
  plainTransfer: 8,
  /** A zero: no extended action follows. */
  noExtendedAction: 1,
} as const;

/** Part of the body of a signed external message. `sends` are modes and messages, `actions` is a list of actions. */
export type WalletOrderPart = keyof typeof partBits | 'sends' | 'actions';

/** Layouts of the body of a signed external message. */
export const walletOrderLayouts = {
  v1: ['signature', 'seqno', 'sends'],
  v2: ['signature', 'seqno', 'validUntil', 'sends'],
  v3: ['signature', 'walletId', 'validUntil', 'seqno', 'sends'],
  v4: ['signature', 'walletId', 'validUntil', 'seqno', 'plainTransfer', 'sends'],
  v5: ['externalSigned', 'walletId', 'validUntil', 'seqno', 'actions', 'noExtendedAction', 'signature'],
} as const satisfies Readonly<Record<string, readonly WalletOrderPart[]>>;

/** Name of a layout of signed external messages. */
export type WalletOrder = keyof typeof walletOrderLayouts;

/** Operation of an external message to a wallet v5. */
export const EXTERNAL_SIGNED = 0x7369676e;

/**
 * Reads the last Unix second in which a wallet accepts a body. Undefined for a layout without a time, and for a body with another operation.
 * Throws DecodeError.
 */
export function readValidUntil(order: WalletOrder, body: CellSlice): number | undefined {
  const parts: readonly WalletOrderPart[] = walletOrderLayouts[order];
  for (const part of parts) {
    if (part === 'validUntil') return body.uint(partBits.validUntil);
    if (part === 'sends' || part === 'actions') return undefined;
    if (part !== 'externalSigned') body.skip(partBits[part]);
    else if (body.uint(partBits.externalSigned) !== EXTERNAL_SIGNED) return undefined;
  }
  return undefined;
}
