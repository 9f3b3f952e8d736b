import { crc32 } from 'node:zlib';
import type { Carried, Codec } from './codec.ts';
import { unknownId } from './codec.ts';
import { TlError } from './errors.ts';
import { TlReader } from './reader.ts';
import { TlWriter } from './writer.ts';

/** Field that is present when a bit of the record's `mode` is set (`mode.N?type`). */
export type Optional<T> = { readonly modeBit: number; readonly codec: Codec<T> };

/** `mode.N?true`: only a bit of `mode`, no bytes and no property of its own. */
export type ModeFlag = { readonly modeFlag: number };

/** Field whose name in the declaration is not the snake_case of its property. */
export type Renamed<F> = { readonly spelled: string; readonly field: F };

type PlainField = Codec<unknown> | Optional<unknown> | ModeFlag;
type Field = PlainField | Renamed<PlainField>;
export type Fields = { readonly [name: string]: Field };

type Unwrapped<F> = F extends Renamed<infer Inner> ? Inner : F;
type RequiredNames<F> = { [K in keyof F]: Unwrapped<F[K]> extends Codec<unknown> ? K : never }[keyof F];
type OptionalNames<F> = { [K in keyof F]: Unwrapped<F[K]> extends Optional<unknown> ? K : never }[keyof F];
type OptionalCarried<F> = F extends Optional<infer T> ? T : never;

/** Object type of a list of fields. */
export type RecordOf<F> = {
  -readonly [K in RequiredNames<F>]: Carried<Unwrapped<F[K]>>;
} & { -readonly [K in OptionalNames<F>]?: OptionalCarried<Unwrapped<F[K]>> } extends infer O
  ? { [K in keyof O]: O[K] }
  : never;

/** Constructor: bare as a codec, `boxed` with its id in front. */
export type TlRecord<T> = Codec<T> & {
  readonly name: string;
  readonly id: number;
  /** TL declaration without `#id` and parentheses, from which the id is computed. */
  readonly declaration: string;
  readonly boxed: Codec<T>;
};

export const optional = <T>(modeBit: number, codec: Codec<T>): Optional<T> => ({ modeBit, codec });
export const modeFlag = (bit: number): ModeFlag => ({ modeFlag: bit });
export const spelled = <F extends PlainField>(name: string, field: F): Renamed<F> => ({ spelled: name, field });

/** Field in the record's internal form. */
type Step = { property: string; codec: Codec<unknown>; modeMask: number };

/**
 * Describes one constructor. The id is the CRC-32 of the declaration (service/liteserver/README.md#tl-encoding) unless `explicitId` is given. When
 * written, a property and its `mode` bit must agree (TlError `tl_value`). Bits that govern nothing stay unchanged.
 */
export function record<const F extends Fields>(
  name: string,
  result: string,
  fields: F,
  explicitId?: number,
): TlRecord<RecordOf<F>> {
  const texts: string[] = [name];
  const steps: Step[] = [];
  for (const [property, given] of Object.entries(fields)) {
    const text =
      'spelled' in given ? given.spelled : property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const field = 'spelled' in given ? given.field : given;
    if ('modeFlag' in field) {
      texts.push(`${text}:mode.${field.modeFlag}?true`);
    } else if ('modeBit' in field) {
      texts.push(`${text}:mode.${field.modeBit}?${field.codec.tl}`);
      steps.push({ property, codec: field.codec, modeMask: 1 << field.modeBit });
    } else {
      texts.push(`${text}:${field.tl}`);
      steps.push({ property, codec: field, modeMask: 0 });
    }
  }
  const declaration = `${texts.join(' ')} = ${result}`;
  const id = explicitId ?? crc32(declaration);
  const bytesMin = steps.reduce((sum, step) => sum + (step.modeMask === 0 ? step.codec.bytesMin : 0), 0);
  const bare: Codec<RecordOf<F>> = {
    tl: name,
    bytesMin,
    read: (reader) => readSteps(steps, reader) as RecordOf<F>,
    write: (writer, value) => writeSteps(name, steps, writer, value),
  };
  const boxed: Codec<RecordOf<F>> = {
    tl: result,
    bytesMin: bytesMin + 4,
    read(reader) {
      const { offset } = reader;
      const found = reader.uint32();
      if (found !== id) throw unknownId(name, found, offset);
      return bare.read(reader);
    },
    write(writer, value) {
      writer.uint32(id);
      bare.write(writer, value);
    },
  };
  return { ...bare, name, id, declaration, boxed };
}

function readSteps(steps: readonly Step[], reader: TlReader): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const { property, codec, modeMask } of steps) {
    if (modeMask === 0 || ((value['mode'] as number) & modeMask) !== 0) value[property] = codec.read(reader);
  }
  return value;
}

function writeSteps(name: string, steps: readonly Step[], writer: TlWriter, value: Record<string, unknown>): void {
  for (const { property, codec, modeMask } of steps) {
    const wanted = modeMask === 0 || ((value['mode'] as number) & modeMask) !== 0;
    const field = value[property];
    if (wanted !== (field !== undefined)) {
      const what = `${name}.${property}`;
      throw new TlError('tl_value', `${what} is ${wanted ? 'missing' : 'not announced by mode'}`, { what, offset: 0 });
    }
    if (wanted) codec.write(writer, field);
  }
}

type Variants = { readonly [kind: string]: TlRecord<unknown> };

/** Value of one of several constructors, distinguished by `kind`. */
export type UnionOf<V> = {
  [K in keyof V & string]: V[K] extends TlRecord<infer T>
    ? { [P in keyof (T & { kind: K })]: (T & { kind: K })[P] }
    : never;
}[keyof V & string];

/** Codec of a union, with its constructors by kind. */
export type TlUnion<V> = Codec<UnionOf<V>> & { readonly variants: V };

/** Creates a boxed type with several constructors. The keys of `variants` are the `kind` of the values. */
export function union<const V extends Variants>(result: string, variants: V): TlUnion<V> {
  const byId = new Map(Object.entries(variants).map(([kind, variant]) => [variant.id, { kind, variant }]));
  return {
    tl: result,
    variants,
    bytesMin: 4 + Math.min(...Object.values(variants).map((variant) => variant.bytesMin)),
    read(reader) {
      const { offset } = reader;
      const id = reader.uint32();
      const found = byId.get(id);
      if (found === undefined) throw unknownId(result, id, offset);
      return { kind: found.kind, ...(found.variant.read(reader) as object) } as UnionOf<V>;
    },
    write(writer, value) {
      const { kind } = value as { kind: string };
      const variant = variants[kind];
      if (variant === undefined) throw new TlError('tl_value', `${result} has no ${kind}`, { what: result, offset: 0 });
      variant.boxed.write(writer, value);
    },
  };
}

/** Returns the bytes of one value. @throws TlError `tl_value` */
export function encodeTl<T>(codec: Codec<T>, value: T): Buffer {
  const writer = new TlWriter();
  codec.write(writer, value);
  return writer.finish();
}

/** Decodes exactly `bytes`. Hashes and byte strings are views of `bytes`. @throws TlError */
export function decodeTl<T>(codec: Codec<T>, bytes: Buffer): T {
  const reader = new TlReader(bytes);
  const value = codec.read(reader);
  reader.end(codec.tl);
  return value;
}
