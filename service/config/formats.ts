import { durationMs } from './duration.ts';

/** Text format of a field of the custom resources. */
type Format = {
  /** Description of a value, after `expected`. */
  readonly words: string;
  readonly isReadable: (text: string) => boolean;
};

/** Name of a text format in the definitions. */
export type FormatName = 'duration' | 'uri' | 'date-time';

/** Text formats as this code reads them. The API server accepts more texts, such as `1 day`. */
export const formats: Readonly<Record<FormatName, Format>> = {
  duration: { words: 'a duration as 10s or 1m30s', isReadable: (text) => durationMs(text) !== undefined },
  // Port 0 is a URL to JavaScript, and no port to Kubernetes.
  uri: { words: 'a URL', isReadable: (text) => URL.parse(text)?.port !== '0' && URL.canParse(text) },
  'date-time': { words: 'a time as 2027-01-31T12:00:00Z', isReadable: (text) => !Number.isNaN(Date.parse(text)) },
};
