import { functionNamed } from '../liteserver/function-table.ts';
import type { MethodClass } from '../liteserver/query-facts.ts';

/** Returns the class of a function by its name; `light` for bytes of an unknown function. */
export function methodClassOf(functionName: string): MethodClass {
  return functionNamed(functionName)?.cost ?? 'light';
}
