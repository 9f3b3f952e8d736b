import type { Limits } from '../limits/limits.ts';
import type { StreamCaller } from '../streaming/streams.ts';
import type { Admission, Caller } from './admission.ts';
import { failureOf } from './error-status.ts';
import { refusedBy } from './errors.ts';

/** Name of a subscription in limits: a stream costs one, with its first subscription. */
export const streamOperation = 'streaming';

/** The caller of a stream that was admitted. */
export function streamCallerOf(
  caller: Caller,
  admission: Admission,
  { limits, actionsVersion }: { readonly limits: Limits; readonly actionsVersion: string | undefined },
): StreamCaller {
  const granted = admission.streaming();
  if (granted === undefined) throw new Error('the stream was not admitted');
  const { owner, plan, ...terms } = granted;
  return {
    owner,
    plan,
    terms,
    key: caller.key,
    isInForce: () => limits.isInForce(caller),
    async charge() {
      const decision = await limits.decide({ ...caller, operation: streamOperation });
      if (!decision.allowed) return failureOf(refusedBy(decision)).text;
      decision.release();
      return undefined;
    },
    actionsVersion,
  };
}
