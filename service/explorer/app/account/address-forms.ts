/** An address: workchain and account id of 64 upper-case hexadecimal digits. */
export type ParsedAddress = { readonly workchain: number; readonly id: string };

const TAG_BOUNCEABLE = 0x11;
const TAG_NON_BOUNCEABLE = 0x51;
const TAG_TEST_ONLY = 0x80;

/** Reads the raw or the friendly form; undefined for another text. */
export function parseAddress(text: string): (ParsedAddress & { readonly isTestOnly: boolean }) | undefined {
  const [, workchain, id] = /^(-?\d{1,3}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (workchain !== undefined && id !== undefined) {
    return { workchain: Number(workchain), id: id.toUpperCase(), isTestOnly: false };
  }
  if (!/^[\w+/-]{48}$/.test(text)) return undefined;
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  const [tag = 0, chain = 0] = bytes;
  const plain = tag & ~TAG_TEST_ONLY;
  if (plain !== TAG_BOUNCEABLE && plain !== TAG_NON_BOUNCEABLE) return undefined;
  if (crc16(bytes.subarray(0, 34)) !== ((bytes[34] ?? 0) << 8) + (bytes[35] ?? 0)) return undefined;
  return { workchain: (chain << 24) >> 24, id: hexOf(bytes.subarray(2, 34)), isTestOnly: (tag & TAG_TEST_ONLY) !== 0 };
}

export const rawForm = ({ workchain, id }: ParsedAddress): string => `${workchain}:${id}`;

/** The friendly form in the alphabet of URLs. */
export function friendlyForm(
  { workchain, id }: ParsedAddress,
  { bounceable, testOnly }: { readonly bounceable: boolean; readonly testOnly: boolean },
): string {
  const bytes = new Uint8Array(36);
  bytes[0] = (bounceable ? TAG_BOUNCEABLE : TAG_NON_BOUNCEABLE) | (testOnly ? TAG_TEST_ONLY : 0);
  bytes[1] = workchain & 0xff;
  for (let at = 0; at < 32; at++) bytes[2 + at] = Number.parseInt(id.slice(2 * at, 2 * at + 2), 16);
  const sum = crc16(bytes.subarray(0, 34));
  bytes[34] = sum >> 8;
  bytes[35] = sum & 0xff;
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** CRC-16/XMODEM: the sum of friendly addresses and of method ids. */
export function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return sum;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
