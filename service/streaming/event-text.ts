import type { EventText } from './changes.ts';

/** Returns the text of an event with its bytes for all connections. @param json one object without `cursor` */
export function eventText(json: string): EventText {
  let body: Buffer | undefined;
  return { json, body: () => (body ??= Buffer.from(json.slice(0, -1))) };
}

/** Characters that readers of lines in some languages take for the end of a line. JSON may have them as they are. */
const lineEnds = ['\u0085', '\u2028', '\u2029'];

/** Returns the JSON of a value in one line for every reader. Most texts have no such character, and the search takes less than a microsecond. */
export function lineOf(value: unknown): string {
  let json = JSON.stringify(value);
  for (const end of lineEnds) {
    if (json.includes(end)) json = json.replaceAll(end, `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
  return json;
}
