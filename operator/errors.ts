import { TonplaneError } from '../service/error.ts';

/** `usage`: the command line cannot be followed; `help`: it asks for help. `message` is what to print. */
export class OptionsError extends TonplaneError<'usage' | 'help', Record<string, never>> {}

export function usageError(message: string): OptionsError {
  return new OptionsError({ code: 'usage', message, data: {}, retryable: false });
}

/** Pods of the operator did not end in time. */
export class UninstallError extends TonplaneError<'pods_remain', { readonly pods: number }> {}

/** A plan needs a right that is not there. */
export class PlanError extends TonplaneError<'forbidden', Record<string, never>> {}

/** A command of `kubectl ton` cannot answer. `forbidden`: rights are missing; `ambiguous`: several operators fit. */
export class PluginError extends TonplaneError<
  'not_found' | 'forbidden' | 'ambiguous' | 'other_release',
  Record<string, never>
> {}
