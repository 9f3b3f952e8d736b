import { words } from './texts.ts';

/** An opcode as 32 unsigned bits in hexadecimal; undefined for another text. @param text `0x…`, hexadecimal or decimal */
export function normalOpcode(text: string): string | undefined {
  const hex = /^(?:0x)?([0-9a-f]{1,8})$/i.exec(text)?.[1];
  return hex === undefined ? undefined : `0x${hex.toLowerCase().padStart(8, '0')}`;
}

/** Opcode of a message that came back. */
const BOUNCED = '0xffffffff';

/**
 * Name of a message by its opcode.
 * @param opcode null for a body without an opcode
 * @param name name by the API's decoder
 */
export function opcodeText(opcode: string | null, name?: string | null): string {
  const hex = opcode === null ? undefined : normalOpcode(opcode);
  if (hex === undefined) return words.message.noOpcode;
  if (hex === '0x00000000') return words.message.comment;
  if (hex === BOUNCED) return words.message.bounced;
  return name === undefined || name === null || name === 'unknown' ? hex : name;
}
