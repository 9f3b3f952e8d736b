import type { ScalarKind } from '#service/actions/engine/detail-shapes.ts';
import { viewInteger } from '#service/contract/json-integer.ts';
import { list, type Shape } from '#service/contract/shape.ts';
import {
  anyText,
  extraCurrencies,
  flag,
  integer,
  intString,
  opcodeText,
  rawAddress,
  viewOpcode,
} from '../request/scalars.ts';

/** A kind of scalar in details: its schema, and the rendering of a stored value. */
export type ScalarForm = {
  readonly shape: Shape<unknown>;
  /** @param value from `columnsJson`; neither null nor undefined */
  readonly view: (value: unknown) => unknown;
};

/** Kinds that the types of actions name. */
export const scalarKinds: Readonly<Record<ScalarKind, ScalarForm>> = {
  address: { shape: rawAddress, view: asText },
  amount: { shape: intString, view: asText },
  text: { shape: anyText, view: asText },
  flag: { shape: flag, view: (value) => value },
  /** Integers are rendered with all digits. */
  integer: { shape: integer, view: (value) => viewInteger(BigInt(value as string | number)) },
  opcode: { shape: opcodeText, view: (value) => viewOpcode(Number(value)) },
  currencies: { shape: extraCurrencies, view: (value) => value },
  addresses: { shape: list(rawAddress), view: (value) => value },
};

function asText(value: unknown): unknown {
  return typeof value === 'number' ? value.toString() : value;
}
