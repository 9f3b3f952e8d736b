import type { EventText } from './changes.ts';

/** Returns the text of an event with its bytes for all connections. @param json one object without `cursor` */
export function eventText(json: string): EventText {
  let body: Buffer | undefined;
  return { json, body: () => (body ??= Buffer.from(json.slice(0, -1))) };
}
