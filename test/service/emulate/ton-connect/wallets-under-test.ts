import { beginCell, Cell, SendMode, type Address, type MessageRelaxed } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import * as ton from '@ton/ton';

import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { readSigningWallet, type SigningWallet } from '#service/emulate/ton-connect/signing-wallet.ts';

const { publicKey, secretKey } = keyPairFromSeed(Buffer.alloc(32, 5));

/** Transfer of a wallet of the client library. */
type Transfer = {
  readonly seqno: number;
  readonly timeout: number;
  readonly messages: MessageRelaxed[];
  /** Default: as in a TON Connect request. */
  readonly sendMode?: SendMode;
};

/** Wallet of the client library, and the place of the parts that a test replaces. */
export type WalletUnderTest = {
  readonly name: string;
  readonly messagesMax: number;
  readonly address: Address;
  readonly code: Cell;
  readonly data: Cell;
  /** Bits of the data before the seqno. */
  readonly seqnoAt: number;
  readonly signature: 'first' | 'last';
  /** Returns the body with a signature. */
  sign(transfer: Transfer): Cell;
};

const options = { workchain: 0, publicKey };
const shared = { secretKey, sendMode: SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS };

function walletOf(
  name: string,
  wallet: ton.Contract,
  rest: Pick<WalletUnderTest, 'messagesMax'> &
    Partial<WalletUnderTest> & { readonly signed: (transfer: Transfer) => Cell },
): WalletUnderTest {
  const { code, data } = wallet.init!;
  const { signed, ...given } = rest;
  return {
    name,
    address: wallet.address,
    code: code!,
    data: data!,
    seqnoAt: 0,
    signature: 'first',
    sign: signed,
    ...given,
  };
}

const v1r1 = ton.WalletContractV1R1.create(options);
const v1r2 = ton.WalletContractV1R2.create(options);
const v1r3 = ton.WalletContractV1R3.create(options);
const v2r1 = ton.WalletContractV2R1.create(options);
const v2r2 = ton.WalletContractV2R2.create(options);
const v3r1 = ton.WalletContractV3R1.create(options);
const v3r2 = ton.WalletContractV3R2.create({ ...options, walletId: 0x8000_0007 });
const v4r2 = ton.WalletContractV4.create(options);
const v5r1 = ton.WalletContractV5R1.create({ ...options, walletId: { networkGlobalId: -239 } });

/** Published code of wallet v4 r1, which the client library lacks. Its messages and data are those of v4 r2. */
const V4R1_CODE =
  'te6cckECFQEAAvUAART/APSkE/S88sgLAQIBIAIDAgFIBAUE+PKDCNcYINMf0x/THwL4I7vyY+1E0NMf0x/T//QE0VFDuvKhUVG68qIF+QFUEGT5EPKj+AAkpMjLH1JAyx9SMMv/UhD0AMntVPgPAdMHIcAAn2xRkyDXSpbTB9QC+wDoMOAhwAHjACHAAuMAAcADkTDjDQOkyMsfEssfy/8REhMUA+7QAdDTAwFxsJFb4CHXScEgkVvgAdMfIYIQcGx1Z70ighBibG5jvbAighBkc3RyvbCSXwPgAvpAMCD6RAHIygfL/8nQ7UTQgQFA1yH0BDBcgQEI9ApvoTGzkl8F4ATTP8glghBwbHVnupEx4w0kghBibG5juuMABAYHCAIBIAkKAFAB+gD0BDCCEHBsdWeDHrFwgBhQBcsFJ88WUAP6AvQAEstpyx9SEMs/AFL4J28ighBibG5jgx6xcIAYUAXLBSfPFiT6AhTLahPLH1Iwyz8B+gL0AACSghBkc3Ryuo41BIEBCPRZMO1E0IEBQNcgyAHPFvQAye1UghBkc3Rygx6xcIAYUATLBVjPFiL6AhLLassfyz+UEDRfBOLJgED7AAIBIAsMAFm9JCtvaiaECAoGuQ+gIYRw1AgIR6STfSmRDOaQPp/5g3gSgBt4EBSJhxWfMYQCAVgNDgARuMl+1E0NcLH4AD2ynftRNCBAUDXIfQEMALIygfL/8nQAYEBCPQKb6ExgAgEgDxAAGa3OdqJoQCBrkOuF/8AAGa8d9qJoQBBrkOuFj8AAbtIH+gDU1CL5AAXIygcVy//J0Hd0gBjIywXLAiLPFlAF+gIUy2sSzMzJcfsAyEAUgQEI9FHypwIAbIEBCNcYyFQgJYEBCPRR8qeCEG5vdGVwdIAYyMsFywJQBM8WghAF9eEA+gITy2oSyx/JcfsAAgBygQEI1xgwUgKBAQj0WfKn+CWCEGRzdHJwdIAYyMsFywJQBc8WghAF9eEA+gIUy2oTyx8Syz/Jc/sAAAr0AMntVEap808=';

/** v1 takes one message. */
const single =
  (wallet: typeof v1r1 | typeof v1r2 | typeof v1r3) =>
  ({ messages: [message], ...rest }: Transfer): Cell =>
    wallet.createTransfer({ ...shared, ...rest, message: message! });

const several =
  (wallet: typeof v2r1 | typeof v2r2) =>
  (transfer: Transfer): Cell =>
    wallet.createTransfer({ ...shared, ...transfer });

/** Wallets of all versions. */
export const wallets: readonly WalletUnderTest[] = [
  walletOf('v1r1', v1r1, { messagesMax: 1, signed: single(v1r1) }),
  walletOf('v1r2', v1r2, { messagesMax: 1, signed: single(v1r2) }),
  walletOf('v1r3', v1r3, { messagesMax: 1, signed: single(v1r3) }),
  walletOf('v2r1', v2r1, { messagesMax: 4, signed: several(v2r1) }),
  walletOf('v2r2', v2r2, { messagesMax: 4, signed: several(v2r2) }),
  walletOf('v3r1', v3r1, {
    messagesMax: 4,
    signed: (transfer) => v3r1.createTransfer({ ...shared, ...transfer }),
  }),
  walletOf('v3r2', v3r2, {
    messagesMax: 4,
    signed: (transfer) => v3r2.createTransfer({ ...shared, ...transfer }),
  }),
  walletOf('v4r1', v4r2, {
    messagesMax: 4,
    code: Cell.fromBase64(V4R1_CODE),
    signed: (transfer) => v4r2.createTransfer({ ...shared, ...transfer }),
  }),
  walletOf('v4r2', v4r2, {
    messagesMax: 4,
    signed: (transfer) => v4r2.createTransfer({ ...shared, ...transfer }),
  }),
  walletOf('v5r1', v5r1, {
    messagesMax: 255,
    seqnoAt: 1,
    signature: 'last',
    signed: (transfer) => v5r1.createTransfer({ ...shared, ...transfer }),
  }),
];

/** Reads the wallet with another seqno in its data. */
export function signingWallet(
  { address, code, data, seqnoAt }: WalletUnderTest,
  seqno: number,
): Promise<SigningWallet> {
  const slice = data.beginParse();
  const head = slice.loadBits(seqnoAt);
  slice.skip(32);
  const changed = beginCell().storeBits(head).storeUint(seqno, 32).storeSlice(slice).endCell();
  const account = { workchain: address.workChain, id: address.hash };
  return readSigningWallet(account, { code: code.toBoc(), data: changed.toBoc() }, createTimeSlice(undefined));
}

/** Replaces the signature of a body with zeros. */
export function withoutSignature({ signature }: WalletUnderTest, body: Cell): Cell {
  const slice = body.beginParse();
  const zeros = Buffer.alloc(64);
  if (signature === 'first') {
    slice.skip(512);
    return beginCell().storeBuffer(zeros).storeSlice(slice).endCell();
  }
  const order = slice.loadBits(slice.remainingBits - 512);
  const whole = beginCell().storeBits(order).storeBuffer(zeros);
  while (slice.remainingRefs > 0) whole.storeRef(slice.loadRef());
  return whole.endCell();
}
