/** Address of an account, and the form in which it was written. */
export type ParsedAddress = {
  /** Signed 32 bits. */
  readonly workchain: number;
  /** 32 bytes. */
  readonly id: Buffer;
  readonly form: 'raw' | 'friendly';
  /** A raw address has neither flag: it counts as bounceable, and for any network. */
  readonly bounceable: boolean;
  readonly testOnly: boolean;
};

/** Form of a friendly address. */
export type AddressStyle = {
  /** Default true. */
  readonly bounceable?: boolean;
  /** Default false. */
  readonly testOnly?: boolean;
  /** base64url (the default) instead of standard base64. */
  readonly urlSafe?: boolean;
};

const BOUNCEABLE_TAG = 0x11;
const NON_BOUNCEABLE_FLAG = 0x40;
const TEST_ONLY_FLAG = 0x80;
/** Tag, workchain, id, CRC-16: 36 bytes, so base64 needs no padding. */
const FRIENDLY_BYTES = 36;
const CRC_START = 34;

/** Buffer in which friendly addresses are written one after another, because an answer has hundreds. */
const friendlyBytes = Buffer.alloc(FRIENDLY_BYTES);

/**
 * Reads `workchain:64 hex digits` or 48 characters of base64, either alphabet or both mixed (TEP-2; service/v2/README.md#inputs). Bare hex without a
 * workchain is no address. Returns undefined for any other text.
 * @param rules `anyTag` accepts a friendly address whose first byte is no known tag (service/v3/README.md#parameters)
 */
export function parseAddress(text: string, rules: { readonly anyTag?: boolean } = {}): ParsedAddress | undefined {
  const raw = /^(-?\d{1,10}):([0-9a-fA-F]{64})$/.exec(text);
  if (raw) {
    const workchain = Number(raw[1]);
    if (workchain !== (workchain | 0)) return undefined;
    return { workchain, id: Buffer.from(raw[2]!, 'hex'), form: 'raw', bounceable: true, testOnly: false };
  }
  if (!/^[A-Za-z0-9+/_-]{48}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const tag = bytes[0]! & ~(NON_BOUNCEABLE_FLAG | TEST_ONLY_FLAG);
  if (tag !== BOUNCEABLE_TAG && rules.anyTag !== true) return undefined;
  if (bytes.readUInt16BE(CRC_START) !== crc16(bytes, CRC_START)) return undefined;
  return {
    workchain: bytes.readInt8(1),
    id: Buffer.from(bytes.subarray(2, 34)),
    form: 'friendly',
    bounceable: (bytes[0]! & NON_BOUNCEABLE_FLAG) === 0,
    testOnly: (bytes[0]! & TEST_ONLY_FLAG) !== 0,
  };
}

/**
 * Formats `workchain:hex`, lower case unless `upper`. `toHex` reads bytes in V8's heap where they are: `toString('hex')` would give each new id memory
 * outside of the heap first.
 */
export function formatRawAddress(
  address: { workchain: number; id: Buffer },
  letters: 'lower' | 'upper' = 'lower',
): string {
  const hex = address.id.toHex();
  return `${address.workchain}:${letters === 'upper' ? hex.toUpperCase() : hex}`;
}

/** Formats 48 characters (TEP-2). The workchain must fit signed 8 bits, like every `addr_std`; others throw RangeError. */
export function formatFriendlyAddress(address: { workchain: number; id: Buffer }, style: AddressStyle = {}): string {
  const { bounceable = true, testOnly = false, urlSafe = true } = style;
  const bytes = friendlyBytes.fill(0);
  bytes[0] = BOUNCEABLE_TAG | (bounceable ? 0 : NON_BOUNCEABLE_FLAG) | (testOnly ? TEST_ONLY_FLAG : 0);
  bytes.writeInt8(address.workchain, 1);
  address.id.copy(bytes, 2);
  bytes.writeUInt16BE(crc16(bytes, CRC_START), CRC_START);
  return bytes.toString(urlSafe ? 'base64url' : 'base64');
}

/** True for a workchain of 8 bits. Friendly addresses and messages have no more. */
export function fitsFriendly({ workchain }: { readonly workchain: number }): boolean {
  return workchain === (workchain << 24) >> 24;
}

/** CRC-16/XMODEM, polynomial 0x1021; get-method ids and friendly addresses use it. @param end of the covered bytes */
export function crc16(bytes: Uint8Array, end = bytes.length): number {
  let crc = 0;
  for (let at = 0; at < end; at++) crc = ((crc << 8) & 0xffff) ^ crc16OfByte[(crc >> 8) ^ bytes[at]!]!;
  return crc;
}

/** CRC of each value of the highest byte. */
const crc16OfByte = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021);
  return crc & 0xffff;
});
