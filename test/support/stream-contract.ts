import { afterEach } from 'vitest';

import { describeStreaming } from '#service/http/openapi-streaming.ts';
import { answerShapeNames, eventShapeNames } from '#service/streaming/frames.ts';
import { messageNames } from '#service/streaming/request/messages.ts';
import { schemaOf, type OpenApi } from '#test/service/http/reference.ts';

type Json = Readonly<Record<string, unknown>>;

/** The document that the service serves. */
const published = describeStreaming('1.0.0') as OpenApi;

/** The same where tests made the content of events: objects of v3 are any objects, and hashes any texts. */
const scripted: OpenApi = {
  ...published,
  components: {
    ...published.components,
    schemas: {
      ...published.components.schemas,
      ...Object.fromEntries(['Transaction', 'Action', 'TraceNode'].map((name) => [name, { type: 'object' }])),
      Hash: { type: 'string' },
    },
  },
};

// Schemas take a second of CPU to compile. A frame must not wait for that: its service may run in the same process.
for (const document of [published, scripted]) {
  for (const name of Object.values(eventShapeNames)) schemaOf(document, name);
}

const faults: string[] = [];

/** A test fails at its end if a frame or a message was none of the contract. */
afterEach(() => {
  const found = faults.splice(0);
  if (found.length > 0) throw new Error(`not in the contract of streams:\n${found.join('\n')}`);
});

/** Checks a frame of the service. The test fails at its end for a frame that is not of the contract. */
export function checkFrame(frame: Json): void {
  note(faultOf(published, schemaNameOf(frame), frame));
}

/** Checks an event whose objects of v3 are made by the test. */
export function checkScriptedFrame(frame: Json): void {
  note(faultOf(scripted, schemaNameOf(frame), frame));
}

/** Checks the events and answers of server-sent events that are whole in a text. */
export function checkSseText(text: string): void {
  for (const [, data] of text.matchAll(/^data: ?(.*)\n\n/gm)) checkFrame(JSON.parse(data!) as Json);
}

/** Checks a message that the service took. */
export function checkTaken(message: unknown): void {
  note(messageFault(message));
}

/** Checks a body that the service took. */
export function checkTakenBody(body: unknown): void {
  note(bodyFault(body));
}

/** Says why a value is no message of a WebSocket; undefined for a message. */
export function messageFault(message: unknown): string | undefined {
  const operation = (message as Json | null)?.['operation'] as keyof typeof messageNames;
  return faultOf(published, Object.hasOwn(messageNames, operation) ? messageNames[operation] : undefined, message);
}

/** Says why a value is no body of a subscription; undefined for a body. */
export function bodyFault(body: unknown): string | undefined {
  return faultOf(published, 'Subscription', body);
}

/** Says why a value is no frame of the service; undefined for a frame. */
export function frameFault(frame: Json): string | undefined {
  return faultOf(published, schemaNameOf(frame), frame);
}

function note(fault: string | undefined): void {
  if (fault !== undefined) faults.push(fault);
}

function schemaNameOf(frame: Json): string | undefined {
  const { type, status, error, code } = frame;
  if (type !== undefined) return eventShapeNames[type as keyof typeof eventShapeNames];
  if (status !== undefined) return answerShapeNames[status as keyof typeof answerShapeNames];
  if (error === undefined) return undefined;
  return code === undefined ? 'Refusal' : 'Closing';
}

function faultOf(document: OpenApi, name: string | undefined, value: unknown): string | undefined {
  const shown = (): string => JSON.stringify(value).slice(0, 2000);
  if (name === undefined) return `nothing of the contract: ${shown()}`;
  const validate = schemaOf(document, name);
  if (validate(value)) return undefined;
  const reasons = (validate.errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return `${name}: ${reasons.join('; ')}: ${shown()}`;
}
