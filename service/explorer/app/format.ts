/** Digits after the point of TON. */
export const TON_DECIMALS = 9;

/** Digits after the point that a token may name: beyond this its amounts are shown as whole numbers. */
const DECIMALS_MAX = 255;

/**
 * An amount of smallest units as a decimal number with groups of three digits. No digit is lost.
 * @param units decimal integer
 */
export function formatUnits(units: string | bigint, decimals: number): string {
  const value = BigInt(units);
  const places = Number.isInteger(decimals) && decimals >= 0 && decimals <= DECIMALS_MAX ? decimals : 0;
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places).replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return `${value < 0n ? '\u2212' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

export function formatTon(nanotons: string | bigint): string {
  return formatUnits(nanotons, TON_DECIMALS);
}

/** A count with groups of three digits. */
export function formatCount(value: number | string | bigint): string {
  return formatUnits(BigInt(value), 0);
}

/** Beginning and end of a long word: `EQAbcd…wxyz`. */
export function shorten(word: string, start = 6, end = 4): string {
  return word.length <= start + end + 1 ? word : `${word.slice(0, start)}…${word.slice(-end)}`;
}

/** Local time with its date, and UTC. @param unixSeconds seconds since 1970 */
export function formatTime(unixSeconds: number): { readonly local: string; readonly utc: string } {
  const date = new Date(unixSeconds * 1000);
  if (Number.isNaN(date.getTime())) return { local: '–', utc: '–' };
  const utc = date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return { local: `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`, utc };
}

const two = (value: number): string => value.toString().padStart(2, '0');

/** Time since a moment in the largest unit that has at least one: `12 s`, `3 min`, `5 h`, `2 d`. */
export function formatAge(unixSeconds: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor(nowMs / 1000 - unixSeconds));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${formatCount(Math.floor(seconds / 86_400))} d`;
}

/** A hash of 32 bytes as 64 hexadecimal digits. Reads hexadecimal, also after `0x`, and either alphabet of base64; else undefined. */
export function hashToHex(text: string): string | undefined {
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
  if (hex !== undefined) return hex.toLowerCase();
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/').replace('=', ''));
  return Array.from(binary, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

// oxlint-disable-next-line no-control-regex
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters of one text: a contract's author may write more than a page can show. */
const TEXT_MAX = 2000;

/**
 * A text of a contract for a line of the page. Control characters and marks of direction become visible squares, because such marks turn
 * around the words beside them.
 */
export function safeText(text: string, max = TEXT_MAX): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return cut.replaceAll(hidden, '\ufffd');
}
