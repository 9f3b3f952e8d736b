import { writeBoc } from '../decode/boc-writer.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { DecodeError } from '../decode/errors.ts';
import { flawOfBody, flawOfState, optionalStateBag, PART_CELLS_MAX } from '../contract/boc-parameter.ts';
import type { LiveFees } from '../live/contracts/fees.ts';
import type { LegacySend } from '../live/send/legacy-send.ts';
import type { LiveSend } from '../live/send/send.ts';
import { address } from './address-parameter.ts';
import { ContractError, invalid } from '../contract/errors.ts';
import { V2Error } from './errors.ts';
import { body, ignoreSignature, queryFees, viewFees } from './fees.ts';
import { isRecord } from '../contract/record.ts';
import { defineOperation, mapAnswer, type Operation } from '../contract/operation.ts';
import type { DefaultedParameter, RequiredParameter } from '../contract/parameter.ts';
import { boc, done } from './send.ts';
import { readCellObject } from './stack-cell-input.ts';

const cellInput = {
  name: 'CellObjectInput',
  schema: {
    type: 'object',
    required: ['data'],
    properties: {
      data: { type: 'object', required: ['b64', 'len'] },
      refs: { type: 'array', maxItems: 4, items: { type: 'object' } },
    },
  },
} as const;

/** A cell as nested objects `{data: {b64, len}, refs}`, as a bag of cells. */
function readCell(raw: unknown, name: string): Buffer {
  try {
    let left = PART_CELLS_MAX;
    const take = (): void => {
      if (--left < 0) throw invalid(`more than ${PART_CELLS_MAX} cells`);
    };
    const { table, cell } = readCellObject(createCellStore(), raw, take, 'Error while parsing cell object');
    return writeBoc(table, [cell], { crc32c: true });
  } catch (error) {
    if (!(error instanceof ContractError || error instanceof DecodeError)) throw error;
    throw new V2Error('bad_cell_object', 'Error while parsing cell object', name);
  }
}

function cellObject(
  name: string,
  check: RequiredParameter<Buffer>['check'] = () => undefined,
): RequiredParameter<Buffer> {
  return {
    name,
    missing: `empty ${name}`,
    parse: (raw) => readCell(raw, name),
    check,
    input: cellInput,
  };
}

/** A cell, or an empty object for none. */
function optionalCellObject(name: string): DefaultedParameter<Buffer | ''> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    fallback: '',
    parse: (raw) => (isRecord(raw) && Object.keys(raw).length === 0 ? '' : readCell(raw, name)),
    check: (value) => flawOfState(value, name),
    input: { name: 'CellObjectInputOrEmpty', schema: { type: ['object', 'string'] } },
  };
}

const bags = {
  account: address,
  body,
  initCode: optionalStateBag('init_code'),
  initData: optionalStateBag('init_data'),
};

const cells = {
  account: address,
  body: cellObject('body', (value) => flawOfBody(value, 'body')),
  initCode: optionalCellObject('init_code'),
  initData: optionalCellObject('init_data'),
};

const posted = { methods: ['POST'], tag: 'send' } as const;

export type LegacyDependencies = {
  readonly send: LiveSend;
  readonly legacySend: LegacySend;
  readonly fees: LiveFees;
};

/** Operations of the old Python service only (service/v2/README.md#legacy-operations); the manifest turns them on. */
export function legacyOperations({ send, legacySend, fees }: LegacyDependencies): readonly Operation[] {
  const sendingQuery = (name: string, summary: string, parameters: typeof bags | typeof cells): Operation =>
    defineOperation({
      name,
      ...posted,
      summary,
      parameters,
      failures: [400],
      result: done,
      handle: async ({ initCode, initData, ...call }, context) => {
        const query = { ...call, initCode: initCode || null, initData: initData || null };
        return mapAnswer(await legacySend.sendQuery(query, context), () => ({ '@type': 'ok' as const }));
      },
    });
  return [
    sendingQuery('sendQuery', 'Writes an external message with this body and sends it.', bags),
    sendingQuery('sendQuerySimple', 'As sendQuery; cells are nested objects.', cells),
    defineOperation({
      name: 'sendCellSimple',
      ...posted,
      summary: 'As sendBoc; the message is a cell as nested objects.',
      parameters: { cell: cellObject('cell') },
      failures: [400],
      result: done,
      handle: async ({ cell }, context) =>
        mapAnswer(await send.send(cell, context), () => ({ '@type': 'ok' as const })),
    }),
    defineOperation({
      name: 'estimateFeeSimple',
      ...posted,
      summary: 'As estimateFee; cells are nested objects.',
      parameters: { ...cells, ignoreSignature },
      failures: [400],
      result: queryFees,
      handle: async ({ initCode, initData, ...call }, context) => {
        const init = { initCode: initCode || null, initData: initData || null };
        return mapAnswer(await fees.estimateFees({ ...call, ...init }, context), viewFees);
      },
    }),
    defineOperation({
      name: 'sendBocUnsafe',
      ...posted,
      summary: 'Sends a message now and again every 5 seconds for a minute; answers at once.',
      parameters: { boc },
      result: done,
      handle: async (values, context) =>
        mapAnswer(legacySend.sendRepeatedly(values.boc, context), () => ({ '@type': 'ok' as const })),
    }),
  ];
}
