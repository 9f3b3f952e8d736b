import * as functions from './functions.ts';
import type { LiteServerFunction } from './functions.ts';

type AnyFunction = LiteServerFunction<unknown, unknown>;

/** Every definition of functions.ts, by its name there. */
export const definitions = { ...functions };

/** Every function. */
export const liteServerFunctions = Object.values(definitions);

const byId: ReadonlyMap<number, AnyFunction> = new Map(liteServerFunctions.map((fn) => [fn.id, fn as AnyFunction]));

const byName: ReadonlyMap<string, AnyFunction> = new Map(liteServerFunctions.map((fn) => [fn.name, fn as AnyFunction]));

/** Returns the function that a request (id first, no envelope or prefix) calls; undefined for an unknown id. */
export function functionOf(request: Buffer): AnyFunction | undefined {
  return request.length < 4 ? undefined : byId.get(request.readUInt32LE(0));
}

/** Returns the function of this name; undefined for an unknown name. */
export const functionNamed = (name: string): AnyFunction | undefined => byName.get(name);
